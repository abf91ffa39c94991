import type { EndToEndCase } from '../endToEndCase.ts';
import { apiFuzz } from './apiFuzz.ts';
import { arm64 } from './arm64.ts';
import { autoexec } from './autoexec.ts';
import { only4011, proxy } from './besideDhcp.ts';
import { biosUndionly } from './biosUndionly.ts';
import { bitRot } from './bitRot.ts';
import { bmcCycle } from './bmcCycle.ts';
import { bmcEvents } from './bmcEvents.ts';
import { bmcFlaky } from './bmcFlaky.ts';
import { bmcPassword } from './bmcPassword.ts';
import { bmcRedfish } from './bmcRedfish.ts';
import { bmcVirtualMedia } from './bmcVirtualMedia.ts';
import { cacheCrash } from './cacheCrash.ts';
import { cacheFullDisk } from './cacheFullDisk.ts';
import { clockOff } from './clock.ts';
import { serialConsole } from './console.ts';
import { consoleBoot } from './consoleBoot.ts';
import { killAgent, killRamdisk, noCentre } from './crashes.ts';
import { secondDisk, twoDisks } from './disks.ts';
import { bios, uefi } from './firmware.ts';
import { freshDebian } from './freshDebian.ts';
import { interrupt } from './interrupt.ts';
import { intruder } from './intruder.ts';
import { ipmi } from './ipmi.ts';
import { ipv6 } from './ipv6.ts';
import { ipv6Http } from './ipv6Http.ts';
import { joinNode } from './joinNode.ts';
import { joinRefusals, joinSite } from './joins.ts';
import { lifecycle } from './lifecycle.ts';
import { ociPull } from './ociPull.ts';
import { secureBootOwnKey } from './ownKey.ts';
import { powerCut } from './powerCut.ts';
import { prewarmToReady } from './prewarmToReady.ts';
import { relay } from './relay.ts';
import { clonedSite, renewLate } from './renewals.ts';
import { revokedSite } from './revocations.ts';
import { rotateKeys } from './rotations.ts';
import { sanboot } from './sanboot.ts';
import { sanbootFallback } from './sanbootFallback.ts';
import { secureBoot, secureBootHttp } from './secureBoot.ts';
import { sourceFallback } from './sourceFallback.ts';
import { badDigest, truncatedSource } from './sources.ts';
import { sushy } from './sushy.ts';
import { tamperingSite } from './tamperingSite.ts';
import { twoClaimants } from './twoClaimants.ts';
import { uefiHttp, uefiHttps } from './uefiHttp.ts';
import { vlan } from './vlan.ts';
import { withdrawnImage } from './withdrawals.ts';

/** Every end-to-end case, in the order in which `--list` names them. */
export const cases: readonly EndToEndCase[] = [
  uefi,
  bios,
  secondDisk,
  twoDisks,
  badDigest,
  truncatedSource,
  killAgent,
  killRamdisk,
  noCentre,
  clockOff,
  proxy,
  only4011,
  biosUndionly,
  lifecycle,
  sanboot,
  autoexec,
  relay,
  sanbootFallback,
  bmcCycle,
  bmcVirtualMedia,
  bmcFlaky,
  bmcEvents,
  bmcRedfish,
  bmcPassword,
  sushy,
  vlan,
  ipv6,
  ipv6Http,
  arm64,
  joinNode,
  tamperingSite,
  twoClaimants,
  interrupt,
  intruder,
  freshDebian,
  joinSite,
  joinRefusals,
  renewLate,
  clonedSite,
  revokedSite,
  rotateKeys,
  apiFuzz,
  withdrawnImage,
  uefiHttp,
  uefiHttps,
  cacheCrash,
  cacheFullDisk,
  bitRot,
  sourceFallback,
  powerCut,
  prewarmToReady,
  ociPull,
  secureBoot,
  secureBootHttp,
  secureBootOwnKey,
  ipmi,
  serialConsole,
  consoleBoot,
];
