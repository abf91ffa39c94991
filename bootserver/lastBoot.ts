import type { BootFact } from '#contract/bootFact.ts';
import { type BootClass, bootClasses } from '#contract/bootQuirks.ts';

/** The boot that a machine was in when this was last written down: a restart of the server does not end it. */
export interface LastBoot {
  bootId: string;
  /** The time of its last step, in milliseconds. */
  at: number;
  /** The newest of its steps, oldest first. */
  facts: readonly BootFact[];
}

/** How far a boot has come: firmware alone, our loader beside it, or a script, which its ramdisk goes on from. */
export type BootStage = 'firmware' | 'loader' | 'script';

const ofScript: readonly BootFact['step'][] = ['script', 'image', 'token', 'tls-refused', 'join-refused'];

/** How far the steps of a boot show that it has come. */
export function stageOf(facts: readonly BootFact[]): BootStage {
  if (facts.some(({ step }) => ofScript.includes(step))) return 'script';
  const isLoaded = facts.some(
    (fact) => fact.step === 'loader' || (fact.step === 'tftp' && fact.outcome === 'complete'),
  );
  return isLoaded ? 'loader' : 'firmware';
}

/** The class of network-boot client that the machine was when it last asked by DHCP. */
export function bootClassOf(facts: readonly BootFact[]): BootClass | undefined {
  const classes = facts.flatMap((fact) => ('client' in fact ? [fact.client] : []));
  return bootClasses.find((one) => one === classes.findLast(isClass));
}

function isClass(client: string): boolean {
  return bootClasses.some((one) => one === client);
}
