import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { buildPackage, projectRoot } from './build.ts';

/** `npm run package [folder]`: the package that consumers of the library install. */
const directory = path.resolve(process.argv[2] ?? path.join(projectRoot, '.cache/library'));
await mkdir(directory, { recursive: true });
process.stdout.write(`${await buildPackage(directory)}\n`);
