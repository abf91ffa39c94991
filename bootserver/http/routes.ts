import type { EfiLoader } from '#contract/efiLoader.ts';
import { autoexecName } from '#ipxe/bootScript.ts';
import type { Boots } from '../boots.ts';
import type { Holders } from '../holders.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import { bytesAnswer, scriptAnswer } from './answer.ts';
import { binary, binaryPattern } from './binaries.ts';
import { grubConfig, grubConfigPattern } from './grubConfig.ts';
import type { ImageReader } from './imageReader.ts';
import { image, imagePattern } from './images.ts';
import { machineMenu, machineMenuPattern } from './machineMenu.ts';
import { type MachineScriptContext, machineScript } from './machineScript.ts';
import { notedImage } from './notedImage.ts';
import type { BootRequest } from './request.ts';
import type { Route } from './route.ts';
import { wholeImage, wholeImagePattern } from './wholeImage.ts';

export interface BootRoutesOptions {
  /** The first script of every machine. */
  script: string;
  /** The same for an iPXE that has no lease of its own yet, where that works. */
  autoexec?: string;
  httpUrl: string;
  machineUrl: string;
  files: ReadonlyMap<string, Buffer>;
  images: ImageReader;
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  boots: Boots;
  holders: Holders;
}

/** Everything that the boot listener serves; what is not listed here is not found. */
export function bootRoutes(options: BootRoutesOptions): Route[] {
  const { boots, decide, holders, httpUrl, machineUrl } = options;
  const machine: MachineScriptContext = {
    httpUrl,
    machineUrl,
    decide,
    hasLoader: (mac) => boots.hasLoader(mac),
    bootOf: (mac, isHolder) => (isHolder ? boots.scriptGiven(mac) : boots.presentBoot(mac)),
    leasedTo: (address) => holders.leasedTo(address),
    note: (facts, decision) => noteScript(facts, decision, boots),
  };
  return [
    { path: '/boot.ipxe', pattern: /^\/boot\.ipxe$/, answer: () => scriptAnswer(options.script) },
    {
      path: `/ipxe/${autoexecName}`,
      pattern: /^\/ipxe\/autoexec\.ipxe$/,
      answer: () => (options.autoexec === undefined ? undefined : scriptAnswer(options.autoexec)),
    },
    {
      path: '/ipxe',
      pattern: /^\/ipxe$/,
      answer: (request) => machineScript(request, machine),
    },
    { path: '/grub/grub.cfg', pattern: grubConfigPattern, answer: () => grubConfig(httpUrl) },
    {
      path: '/grub/menu/<mac>/<cpu>/<uuid>',
      pattern: machineMenuPattern,
      answer: (request) => machineMenu(request, machine),
    },
    {
      path: '/ipxe/<file>',
      pattern: binaryPattern,
      isDownload: true,
      answer: (request) => {
        const answer = binary(request, options.files);
        if (answer !== undefined && request.method === 'GET') noteLoader(request, options);
        return answer;
      },
    },
    {
      path: '/images/sha256/<digest>',
      pattern: imagePattern,
      isDownload: true,
      answer: (request) => notedImage(request, options, image(request, options.images)),
    },
    {
      path: '/images/sha256/<digest>/ramdisk.efi',
      pattern: wholeImagePattern,
      isDownload: true,
      answer: (request) => notedImage(request, options, wholeImage(request, options.images)),
    },
    {
      path: '/healthz',
      pattern: /^\/healthz$/,
      answer: () => bytesAnswer(Buffer.from('ok\n'), 'text/plain'),
    },
  ];
}

/** Of a machine that asks itself: who only names its MAC is no step of its boot. */
function noteScript(machine: MachineFacts, decision: BootDecision, boots: Boots): void {
  const { mac, uuid, firmware, leasedTo } = machine;
  if (leasedTo !== mac) return;
  boots.note(
    mac,
    decision.kind === 'disk' ? 'boot.disk' : 'boot.script',
    `${inWords(decision, firmware)} (${[firmware, uuid].filter(Boolean).join(', ')})`,
    { step: 'script', boots: decision.kind },
  );
}

function inWords(decision: BootDecision, firmware: MachineFacts['firmware']): string {
  if (decision.kind === 'disk') return localDisk(firmware, decision.loader);
  if (decision.kind === 'vlan') return `goes on in VLAN ${decision.vlan}`;
  return `${decision.kind === 'iso' ? 'ISO' : 'ramdisk'} ${decision.digest.slice(0, 12)}`;
}

function localDisk(firmware: MachineFacts['firmware'], loader: EfiLoader | undefined): string {
  return loader === undefined || firmware === 'bios'
    ? 'local disk'
    : `local disk, EFI system partition ${loader.espGuid}`;
}

/** Once in a boot for each file, however often it is fetched. */
function noteLoader({ from, path }: BootRequest, { boots, holders }: BootRoutesOptions): void {
  const mac = holders.macAt(from);
  if (mac === undefined) return;
  if (boots.isFirstPiece(mac, path)) boots.note(mac, 'boot.http', path, { step: 'loader', file: path });
  boots.loaderGiven(mac);
}
