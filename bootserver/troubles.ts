/** Why a machine does not boot from here, as far as the boot server can see it: what is counted, in words. */
export const troubles = {
  'no-boot-file': 'asked to boot from the network and there is no boot file for its architecture',
  'bad-machine-id': 'sent an option 97 that is neither empty nor 17 bytes long (RFC 4578 §2.3)',
  'boot-integrity': 'asked port 4011 for credentials of the Boot Integrity Services',
  loop: 'loaded iPXE again and again and never asked for its script',
  'not-accepted': 'took no offer, or that of another server',
} as const;

export type Trouble = keyof typeof troubles;

/** Advice for an operator about one machine. */
export interface Advice {
  trouble: Trouble;
  text: string;
}

/** How often each trouble was met since the start. */
export class TroubleCounts {
  readonly #counts = new Map<Trouble, number>();

  add(trouble: Trouble): void {
    this.#counts.set(trouble, (this.#counts.get(trouble) ?? 0) + 1);
  }

  of(trouble: Trouble): number {
    return this.#counts.get(trouble) ?? 0;
  }
}
