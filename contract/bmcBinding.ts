import { Value } from 'typebox/value';
import { canonicalAddress } from './bmcAddress.ts';
import type { Issue } from './findIssues.ts';
import type { BmcBinding, BmcDriver } from './nodeSpec.ts';

/** A binding as an operator writes it: the address tells the driver. */
export type WrittenBinding = Omit<BmcBinding, 'driver'> & { driver?: BmcDriver };

const schemes: Partial<Record<BmcDriver, string>> = { redfish: 'https://', ipmi: 'ipmi://' };

/** A binding with its driver: the one that is named, else that of the address's scheme, else Redfish. */
export function boundDriver(written: WrittenBinding): BmcBinding {
  const driver = written.driver ?? (written.address?.startsWith('ipmi://') ? 'ipmi' : 'redfish');
  return { ...written, driver };
}

/** What is wrong with a binding that its schema cannot say; undefined when nothing is. */
export function bindingIssue({
  driver,
  address,
  credentialRef,
  certificateSha256,
  bootOrder,
  console,
  sshHostKey,
}: BmcBinding): Issue | undefined {
  const scheme = schemes[driver];
  if (scheme === undefined) {
    const ofBmc = [address, credentialRef, certificateSha256, console, sshHostKey];
    if (ofBmc.every((field) => field === undefined)) return undefined;
    return {
      path: 'bmc',
      message: `driver ${driver} has no BMC: leave address, credentialRef, certificate and console out`,
    };
  }
  if (address === undefined) return { path: 'bmc.address', message: `is required: ${scheme}host[:port]` };
  if (!address.startsWith(scheme) || !URL.canParse(address) || new URL(address).hostname === '')
    return { path: 'bmc.address', message: `must be ${scheme}host[:port] for driver ${driver}` };
  if (credentialRef === undefined) return { path: 'bmc.credentialRef', message: 'is required: secret://…' };
  if (driver === 'ipmi' && certificateSha256 !== undefined)
    return { path: 'bmc.certificateSha256', message: 'IPMI has no certificates' };
  if (driver === 'ipmi' && (console === 'ssh' || sshHostKey !== undefined))
    return {
      path: 'bmc.console',
      message: 'driver ipmi has its serial console by IPMI: enroll it for Redfish',
    };
  if (bootOrder !== undefined)
    return { path: 'bmc.bootOrder', message: `is not for driver ${driver}, which sets the boot device` };
  return undefined;
}

/** Whether there is a BMC to ask which machine this is. */
export function hasController({ driver }: BmcBinding): boolean {
  return schemes[driver] !== undefined;
}

/** Whether a binding means another BMC than the one before, or another way to it: anything but the name of its credentials is other. */
export function isOtherBmc(before: BmcBinding | undefined, now: BmcBinding | undefined): boolean {
  return !Value.Equal(withoutCredentials(before), withoutCredentials(now));
}

function withoutCredentials(bmc: BmcBinding | undefined): object {
  const { credentialRef: _, ...rest } = bmc ?? {};
  return rest;
}

/** Whether two bindings are of one BMC: by one protocol at one address, or by two at one host. */
export function isSameBmc(one: BmcBinding | undefined, other: BmcBinding | undefined): boolean {
  if (one?.address === undefined || other?.address === undefined) return false;
  if (one.driver === other.driver) return canonicalAddress(one.address) === canonicalAddress(other.address);
  return hostOf(one.address) === hostOf(other.address);
}

function hostOf(address: string): string | undefined {
  return URL.parse(canonicalAddress(address))?.hostname;
}
