"""Adapters of trainers. Each module needs its trainer, and is imported by the trainer's own options."""
