#!/usr/bin/env node
import { main } from './main.ts';
import { leaveQuietly } from './terminal/output.ts';

leaveQuietly();
await main(process.argv.slice(2));
