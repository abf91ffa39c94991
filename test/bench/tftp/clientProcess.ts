import { type Progress, readFile } from './reader.ts';

/**
 * `node clientProcess.ts HOST FILE SHA256 READERS TIMES SECONDS`: that many readers at once, each of which takes the file that often,
 * for at most so long. One line of JSON says how it went.
 */
const [host = '', file = '', sha256 = '', readers = '1', times = '1', most = '60'] = process.argv.slice(2);

/** As machines do, each reader has an address of its own. */
const from = (reader: number) => `10.78.1.${reader + 1}`;
const progress: Progress = { bytes: 0 };
let [complete, failures] = [0, 0];

async function reader(which: number): Promise<void> {
  for (let time = 0; time < Number(times); time++) {
    if ((await readFile({ from: from(which), host, file, progress })) === sha256) complete += 1;
    else failures += 1;
  }
}

const startedAt = performance.now();
const inTime = new Promise((resolve) => setTimeout(resolve, Number(most) * 1000).unref());
await Promise.race([
  inTime,
  Promise.all(Array.from({ length: Number(readers) }, (_, which) => reader(which))),
]);
const seconds = (performance.now() - startedAt) / 1000;
const unfinished = Number(readers) * Number(times) - complete - failures;
console.log(JSON.stringify({ seconds, bytes: progress.bytes, complete, failures, unfinished }));
process.exit(0);
