import type { BootFact } from '#contract/bootFact.ts';

/** What the site knows of a step: a line of the boot's timeline, or that the ramdisk has joined, with which the boot is done. */
export type BootStepFact = BootFact | { step: 'joined' };

/** One step of a boot; `at` is in milliseconds. */
export interface BootStep {
  at: number;
  fact: BootStepFact;
}

/** What an operator is told about one boot, once. */
export interface BootAdvice {
  pattern: string;
  text: string;
}

type Pattern = (steps: readonly BootStep[], now: number) => string | undefined;
type Step = BootStepFact['step'];
type FactOf<Name extends Step> = Extract<BootStepFact, { step: Name }>;

/** How long a machine may take from one step to the next before its silence means something, in milliseconds. */
const patience = { loader: 20_000, kernel: 30_000, ramdisk: 120_000, join: 60_000 };
/** A transfer that ends within so many blocks never got going. */
const firstBlocks = 8;

/**
 * Every way of failing that the steps of a boot show, the first that matches of each name is told. What the boot server notices by itself, and
 * writes into the timeline as `boot.advice`, is not here: offers that nobody takes, machines that go round in a circle.
 */
const patterns: Readonly<Record<string, Pattern>> = {
  'tftp-first-blocks': (steps) => {
    const failed = lastOf(steps, 'tftp');
    if (failed?.outcome !== 'abandoned') return undefined;
    const blocks = Math.floor(failed.bytes / failed.blockSize);
    if (blocks > firstBlocks) return undefined;
    return (
      `asked for ${failed.file}, gave up after ${count(blocks, 'block')} of ${failed.blockSize} bytes: path MTU below ` +
      `${failed.blockSize + 32}? A firewall that lets port 69 through and not the transfer's own ports?`
    );
  },
  'tftp-lossy': (steps) => {
    const transfer = lastOf(steps, 'tftp');
    if (transfer === undefined) return undefined;
    const blocks = Math.max(1, Math.ceil(transfer.bytes / transfer.blockSize));
    if (blocks <= firstBlocks || transfer.resentBlocks < blocks / 10) return undefined;
    return `${transfer.file}: ${transfer.resentBlocks} of ${blocks} blocks had to be sent again: a bad cable or port, a duplex mismatch, an overloaded link?`;
  },
  'unknown-file': (steps, now) => {
    const first = steps.find(({ fact }) => fact.step === 'no-file');
    const asked = lastOf(steps, 'no-file');
    if (
      first === undefined ||
      asked === undefined ||
      hasAny(steps, 'tftp', 'loader', 'script', 'image', 'token', 'joined')
    )
      return undefined;
    if (now - first.at < patience.loader) return undefined;
    return `asked for ${asked.file}, which this site has not, and for nothing else: does another DHCP server, or a setting of its firmware, name that file (option 67)?`;
  },
  'address-refused': (steps) => {
    if (lastStep(steps)?.fact.step !== 'nak') return undefined;
    return 'asked for an address that is not its own here and was refused: it should ask anew at once. Does it come from another network, or is its lease from another server?';
  },
  'loader-not-fetched': (steps, now) => {
    const last = lastStep(steps);
    if (last?.fact.step !== 'ack' || last.fact.file === undefined || !isBootClient(last.fact.client))
      return undefined;
    if (now - last.at < patience.loader || hasAny(steps, 'no-file')) return undefined;
    return `took its address and never fetched ${last.fact.file}: is the boot file's server reachable from there (gateway, firewall, UDP port 69 or the HTTP port)? Does another server's offer name another file?`;
  },
  'script-not-fetched': (steps, now) => {
    const last = lastStep(steps);
    const isLoaded =
      last?.fact.step === 'loader' || (last?.fact.step === 'tftp' && last.fact.outcome === 'complete');
    if (last === undefined || !isLoaded || now - last.at < patience.loader) return undefined;
    return 'has our boot program and never asked for its script: Secure Boot that refuses it, a network card that the program has no driver for (try ipxe.efi beside snponly.efi), or HTTP that does not get through';
  },
  'kernel-not-fetched': (steps, now) => {
    const script = lastStep(steps);
    if (script?.fact.step !== 'script' || script.fact.boots !== 'ramdisk') return undefined;
    if (now - script.at < patience.kernel) return undefined;
    return 'has its script and did not fetch the kernel: does HTTP of large answers get through (path MTU, proxies)? Is the image in the cache (bcd site cache list)?';
  },
  'image-refused': (steps) => {
    const image = lastOf(steps, 'image');
    if (image?.outcome !== 'refused') return undefined;
    return 'its image was refused: it is not in the cache yet, or its pull failed (bcd site cache list says which)';
  },
  'image-cut': (steps) => {
    const image = lastOf(steps, 'image');
    if (image?.outcome !== 'cut') return undefined;
    return `its ${image.part === 'whole' ? 'image' : image.part} was cut off on the way: too little memory for it, a link that went down, or a machine that was reset`;
  },
  'ramdisk-silent': (steps, now) => {
    const last = lastStep(steps);
    const isHandedOver =
      last?.fact.step === 'image' && last.fact.outcome === 'complete' && last.fact.part === 'initrd';
    if (last === undefined || !isHandedOver || now - last.at < patience.ramdisk) return undefined;
    return 'has kernel and initrd, and its ramdisk never spoke: look at its console. A kernel that does not start (Secure Boot, memory), a network card without a driver in the ramdisk, or no DHCP answer for it';
  },
  'ramdisk-not-come': (steps, now) => {
    const last = lastStep(steps);
    if (last?.fact.step !== 'ack' || last.fact.client !== 'ramdisk' || hasAny(steps, 'joined'))
      return undefined;
    if (now - last.at < patience.join) return undefined;
    return 'its ramdisk has an address and never spoke to this site: does TCP port 8443 get through? Its console says what it waits for';
  },
  'ramdisk-not-joined': (steps, now) => {
    const last = lastStep(steps);
    if (last?.fact.step !== 'token' || now - last.at < patience.join) return undefined;
    return 'its ramdisk has a token and did not join: does TCP port 8443 get through? Is its clock right?';
  },
  'tls-refused': (steps) => {
    const refused = lastOf(steps, 'tls-refused');
    if (refused === undefined) return undefined;
    return /EXPIRED|NOT_YET/.test(refused.reason)
      ? "its clock is wrong: our certificate is not valid at its time. Set the BIOS clock, or replace the board's battery"
      : 'its ramdisk does not believe our certificate: a clock that is years off, or a ramdisk image that was built for another centre';
  },
  'join-refused': (steps) => {
    const refused = lastOf(steps, 'join-refused');
    return (
      refused &&
      `its ramdisk was refused (${refused.reason}): ${joinAdvice[refused.reason] ?? 'boot it again'}`
    );
  },
};

const joinAdvice: Readonly<Record<string, string>> = {
  'unknown-token': 'its boot token is from an earlier boot or another site: boot it again',
  'no-entry': 'its boot entry is gone, because the workflow ended or was cancelled: start it again',
  expired: 'it took longer than its boot entry is valid, or a clock is wrong: boot it again',
  contested: 'two machines claim to be this one: find the other, then boot this one again',
  'other-mac': 'it booted from another interface than the one that joined: enrol both of its addresses',
};

/** What the steps of one boot, oldest first, tell an operator at `now`. Pure: the same steps give the same words. */
export function adviseOn(steps: readonly BootStep[], now: number): BootAdvice[] {
  return Object.entries(patterns).flatMap(([pattern, look]) => {
    const text = look(steps, now);
    return text === undefined ? [] : [{ pattern, text }];
  });
}

/** What says nothing of how far a boot has come: loaders look for files that need not exist. */
const asides: readonly Step[] = ['log', 'no-file'];

function lastStep(steps: readonly BootStep[]): BootStep | undefined {
  return steps.findLast(({ fact }) => !asides.includes(fact.step));
}

function lastOf<Name extends Step>(steps: readonly BootStep[], name: Name): FactOf<Name> | undefined {
  const found = steps.findLast(({ fact }) => fact.step === name);
  return found?.fact as FactOf<Name> | undefined;
}

function hasAny(steps: readonly BootStep[], ...names: Step[]): boolean {
  return steps.some(({ fact }) => names.includes(fact.step));
}

function isBootClient(client: string): boolean {
  return !['ramdisk', 'os'].includes(client);
}

function count(number: number, of: string): string {
  return `${number} ${of}${number === 1 ? '' : 's'}`;
}
