import { createHash } from 'node:crypto';
import { assembleUki } from '#base/uki.ts';
import { ramdiskScript } from '#ipxe/ramdiskScript.ts';
import { syntheticStub } from '../../base/syntheticStub.ts';

/** Kernel and initrd are a hundred times smaller than real ones, so that two cores can serve a thousand of them and be the machines too. */
export const kernelBytes = 128 * 1024;
export const initrdBytes = 512 * 1024;
export const httpUrl = 'http://10.78.0.1:8080';

const fill = (size: number, factor: number) =>
  Buffer.from({ length: size }).map((_, at) => (at * factor) >> 3);

/** The ramdisk that every machine boots. */
export const kernel = Buffer.from(fill(kernelBytes, 7));
export const initrd = Buffer.from(fill(initrdBytes, 13));
export const uki = assembleUki({
  stub: syntheticStub(),
  sections: [
    { name: '.linux', data: kernel },
    { name: '.initrd', data: initrd },
  ],
});
export const digest = createHash('sha256').update(uki).digest('hex');
export const token = 'a'.repeat(43);

/** The machine's script as a file, for a server that makes none. */
export function staticScript(): string {
  return ramdiskScript({ firmware: 'uefi', httpUrl, digest, kernelArguments: [`railhead.token=${token}`] });
}
