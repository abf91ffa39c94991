import { firstConfig } from '#grub/firstConfig.ts';
import { type Answer, scriptAnswer } from './answer.ts';

/** Where GRUB looks for its configuration: below the folder of its architecture, then in the one above (by TFTP and by HTTP alike). */
const grubConfigNames = ['grub/x86_64-efi/grub.cfg', 'grub/arm64-efi/grub.cfg', 'grub/grub.cfg'];

export const grubConfigPattern = new RegExp(`^/(?:${grubConfigNames.join('|').replaceAll('.', '\\.')})$`);

/** The same for TFTP, by name. */
export function grubConfigFiles(httpUrl: string): [string, Buffer][] {
  const content = Buffer.from(firstConfig(httpUrl));
  return grubConfigNames.map((name) => [name, content]);
}

/** What GRUB of every machine reads first. */
export function grubConfig(httpUrl: string): Answer {
  return scriptAnswer(firstConfig(httpUrl));
}
