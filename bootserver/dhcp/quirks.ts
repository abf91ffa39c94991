import type { BootQuirk } from '#contract/bootQuirks.ts';
import type { ReplyRole, ReplyShape } from './replyShape.ts';

type Change = (shape: ReplyShape, role: ReplyRole) => ReplyShape;

const same: Change = (shape) => shape;
/** HTTP boot has neither option 43 nor another class than its own. */
const ofPxe =
  (change: Change): Change =>
  (shape, role) =>
    shape.vendorClass === 'HTTPClient' ? shape : change(shape, role);

/**
 * What each quirk changes in a reply's shape, in the order in which they are applied: one that leaves something out wins over
 * one that puts it in. Those of iPXE choose the file instead (`bootFile.ts`), that of TFTP changes the download (`../wrapsTo.ts`).
 */
const changes: Record<BootQuirk, Change> = {
  'option-60': ofPxe((shape, role) =>
    role === 'proxy' ? shape : { ...shape, vendorClass: 'PXEClient', discoveryControl: true },
  ),
  'discovery-control': ofPxe((shape) => ({ ...shape, discoveryControl: true })),
  'option-66': (shape) => ({ ...shape, serverName: true }),
  'nul-terminated': (shape) => ({ ...shape, nulTerminated: true }),
  'no-option-60': ofPxe(({ vendorClass: _, ...shape }) => shape),
  'no-option-43': ({ discoveryControl: _, raspberryPiMenu: __, ...shape }) => ({
    ...shape,
    noBootItem: true,
  }),
  'no-option-67': (shape) => ({ ...shape, headerOnly: true }),
  'no-boot-item': (shape) => ({ ...shape, noBootItem: true }),
  'chain-ipxe': same,
  'no-chain-ipxe': same,
  'tftp-wrap-to-1': same,
};

/** The shape with a machine's quirks. */
export function withQuirks(shape: ReplyShape, role: ReplyRole, quirks: ReadonlySet<BootQuirk>): ReplyShape {
  return (Object.keys(changes) as BootQuirk[])
    .filter((name) => quirks.has(name))
    .reduce((changed, name) => changes[name](changed, role), shape);
}
