import { createHash } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command, Option } from 'commander';
import { buildExecutable } from '#agent/executable/build.ts';
import { architectureNames, type MachineArchitecture } from '#base/architecture.ts';
import { writeDurably } from '#base/durableFile.ts';
import { buildRamdisk, type Ramdisk } from '#ramdisk/image/build.ts';
import type { Personality } from '#ramdisk/image/personality.ts';
import { checkSignable, signProgram } from '#secureboot/sign.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../.cache');

export interface RamdiskImageOptions extends Personality {
  /** `x86_64` unless named. */
  architecture?: MachineArchitecture;
  release?: boolean;
  firmware?: boolean;
  refresh?: boolean;
  progress?: (line: string) => void;
}

/** The ramdisk with the daemon of this project's sources inside: both from the cache when nothing has changed. */
export async function ramdiskImage(options: RamdiskImageOptions = {}): Promise<Ramdisk> {
  const { architecture = 'x86_64', progress } = options;
  const bcd = await buildExecutable({ cacheDirectory, architecture, ...(progress && { progress }) });
  return buildRamdisk({ ...options, architecture, bcd, cacheDirectory });
}

interface BuildFlags {
  architecture: MachineArchitecture;
  release?: true;
  firmware?: true;
  refresh?: true;
  consoleShell?: true;
  trust?: string;
  commandLine?: string;
  out?: string;
  inputs?: true;
}

export function ramdiskCommand(): Command {
  const command = new Command('ramdisk').description(
    'the image that machines boot to be inspected, wiped or written',
  );
  command
    .command('build')
    .description('build the ramdisk as one unified kernel image')
    .addOption(architectureOption())
    .option('--release', 'compress as small as can be (a minute)')
    .option('--firmware', 'bring NIC firmware from non-free-firmware')
    .option('--refresh', 'look for newer Debian packages')
    .option('--trust <file>', 'trust.json of the centre whose machines it is for')
    .option('--command-line <text>', 'embed this kernel command line')
    .option('--console-shell', 'a root shell on the console of every machine that boots it')
    .option('--inputs', 'list everything that decided its bytes, with digests')
    .option('--out <file>', 'copy it there')
    .action(build);
  command
    .command('sign')
    .description('sign an image, so that firmware with your key starts it')
    .argument('<file>', 'as built, with --command-line')
    .requiredOption('--key <file>', 'db.key of "railhead secure-boot keys", or another (PEM)')
    .requiredOption('--certificate <file>', 'its certificate (PEM)')
    .requiredOption('--out <file>', 'the signed image: register this one')
    .option('--cache <path>', 'where Debian packages are kept', '.cache/debian')
    .action(sign);
  return command;
}

interface SignFlags {
  key: string;
  certificate: string;
  out: string;
  cache: string;
}

async function sign(file: string, { key, certificate, out, cache }: SignFlags): Promise<void> {
  const image = await readFile(file);
  checkSignable(image);
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const signer = { keyFile: key, certificateFile: certificate, cacheDirectory: cache, progress };
  const signed = await signProgram(image, signer);
  await writeDurably(out, signed);
  const digest = createHash('sha256').update(signed).digest('hex');
  process.stdout.write(`${out}\nsha256:${digest} ${(signed.length / 2 ** 20).toFixed(1)} MiB\n`);
}

function architectureOption(): Option {
  return new Option('--architecture <name>', 'of the machines that boot it')
    .choices(Object.keys(architectureNames))
    .default('x86_64');
}

async function build(flags: BuildFlags): Promise<void> {
  const { trust, out, inputs, ...rest } = flags;
  const ramdisk = await ramdiskImage({
    ...rest,
    ...(trust !== undefined && { trust: JSON.parse(await readFile(trust, 'utf8')) as object }),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  if (out !== undefined) await copyFile(ramdisk.file, out);
  if (inputs)
    for (const { name, version, digest } of ramdisk.inputs)
      process.stdout.write(`${digest} ${name}${version === undefined ? '' : ` ${version}`}\n`);
  const mebibytes = (ramdisk.sizeBytes / 2 ** 20).toFixed(1);
  process.stdout.write(`${out ?? ramdisk.file}\nsha256:${ramdisk.digest} ${mebibytes} MiB\n`);
}
