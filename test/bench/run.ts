import { parseArgs } from 'node:util';
import { stopRequest } from '#base/shutdown.ts';
import type { Benchmark } from './benchmark.ts';
import { bmc } from './bmc.ts';
import { cache } from './cache.ts';
import { catalog } from './catalog.ts';
import { dhcp } from './dhcp.ts';

import { imageWrite } from './imageWrite.ts';
import { join } from './join.ts';
import { pull } from './pull.ts';
import { serve } from './serve.ts';
import { storm } from './storm.ts';
import { tftp } from './tftp.ts';

/** `npm run bench -- NAME [--quick]`: runs ours and the peers in turn; the last line on standard output is JSON. */
const benchmarks: readonly Benchmark[] = [
  bmc,
  cache,
  catalog,
  dhcp,
  imageWrite,
  join,
  pull,
  serve,
  storm,
  tftp,
];

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const chosen = benchmarks.find(({ name }) => name === positionals[0]);

if (values.list) {
  for (const { name, about } of benchmarks) console.log(`${name.padEnd(14)} ${about}`);
} else if (chosen === undefined) {
  console.error('name one benchmark; npm run bench -- --list names them all');
  process.exitCode = 2;
} else {
  console.log(JSON.stringify(await chosen.run(values.quick, stopRequest())));
}
