import Type, { type Static } from 'typebox';

/** A GUID as text: RFC 9562 section 4. */
const guid = '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';

/**
 * Where a machine's UEFI firmware finds the boot loader of its deployed disk: the GUID of the EFI system partition in the
 * disk's GPT, and the file there. A boot script names both, so the patterns leave no room for anything else.
 */
export const EfiLoader = Type.Object({
  espGuid: Type.String({ pattern: guid }),
  /** `\EFI\BOOT\BOOTX64.EFI` */
  path: Type.String({ pattern: '^(\\\\[A-Za-z0-9][A-Za-z0-9._-]*)+$', maxLength: 255 }),
});
export type EfiLoader = Static<typeof EfiLoader>;
