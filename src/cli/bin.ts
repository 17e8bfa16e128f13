#!/usr/bin/env node
import { main } from './main.ts';
import { leaveQuietly } from './output.ts';

leaveQuietly();
await main(process.argv.slice(2));
