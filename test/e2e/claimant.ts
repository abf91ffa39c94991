import { readTrust } from '#ramdisk/join/trust.ts';
import { startMachine } from '../tampering/machine.ts';

/**
 * `claimant.ts SITE TRUST MAC TOKEN DIRECTORY`: the real ramdisk agent as one host of a provisioning network, in whatever namespace it is
 * started. It says on standard output what a ramdisk says on its console, and begins operations without doing them.
 */
const [url, trustFile, mac, token, directory] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];

await startMachine({
  url,
  trust: await readTrust(trustFile),
  mac,
  token,
  directory,
  runStep: (_operation, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  onSay: (text) => process.stdout.write(`${text}\n`),
});
