import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeDurably } from '#base/durableFile.ts';
import { BrokenPe, sectionData } from '#base/pe.ts';
import { RailheadError } from '#contract/errors.ts';
import { signingTools, type ToolOptions } from './tools.ts';

export interface Signer extends ToolOptions {
  /** PEM files of the private key, and of the certificate that firmware has in its db. */
  keyFile: string;
  certificateFile: string;
}

/**
 * Signs an EFI program for firmware that has the certificate, and has the signature checked. The signature holds the time: signing twice gives two
 * digests.
 * @throws RailheadError DRIVER_ERROR with the words of sbsign
 */
export async function signProgram(program: Buffer, signer: Signer): Promise<Buffer> {
  const tools = await signingTools(signer);
  const scratch = await mkdtemp(path.join(tmpdir(), 'railhead-sign-'));
  try {
    const [plain, signed] = [path.join(scratch, 'plain.efi'), path.join(scratch, 'signed.efi')];
    await writeDurably(plain, program);
    const { keyFile, certificateFile } = signer;
    await tools.run('usr/bin/sbsign', [
      '--key',
      keyFile,
      '--cert',
      certificateFile,
      '--output',
      signed,
      plain,
    ]);
    await tools.run('usr/bin/sbverify', ['--cert', certificateFile, signed]);
    return await readFile(signed);
  } catch (error) {
    throw new RailheadError(
      'DRIVER_ERROR',
      `the program could not be signed: ${(error as Error).message}`,
      {},
      error,
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * Whether an image may be signed: only one that embeds its command line. Without, whoever answers DHCP would choose the kernel's arguments of an image
 * that the firmware calls verified.
 * @throws RailheadError INVALID_INPUT, reason `command-line`, or for a file that is no unified kernel image
 */
export function checkSignable(image: Buffer): void {
  if (section(image, '.linux') === undefined)
    throw new RailheadError('INVALID_INPUT', 'this is no unified kernel image: it has no section .linux', {
      reason: 'no-kernel',
    });
  if (section(image, '.cmdline') !== undefined) return;
  throw new RailheadError(
    'INVALID_INPUT',
    'this image embeds no command line, so whoever answers DHCP would choose it: build it with --command-line',
    { reason: 'command-line' },
  );
}

function section(image: Buffer, name: string): Buffer | undefined {
  try {
    return sectionData(image, name);
  } catch (error) {
    if (error instanceof BrokenPe)
      throw new RailheadError('INVALID_INPUT', error.message, { reason: 'no-image' }, error);
    throw error;
  }
}
