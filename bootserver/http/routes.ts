import { autoexecName } from '#ipxe/bootScript.ts';
import type { Boots } from '../boots.ts';
import type { Holders } from '../holders.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import { bytesAnswer, scriptAnswer } from './answer.ts';
import { binary, binaryPattern } from './binaries.ts';
import { noteLoader, noteScript } from './bootSteps.ts';
import { grubConfig, grubConfigPattern } from './grubConfig.ts';
import type { ImageReader } from './imageReader.ts';
import { image, imagePattern } from './images.ts';
import { machineMenu, machineMenuPattern } from './machineMenu.ts';
import { type MachineScriptContext, machineScript } from './machineScript.ts';
import { medium, mediumPattern } from './medium.ts';
import { notedImage } from './notedImage.ts';
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
  return [
    ...firstScripts(options),
    ...machineScripts(options),
    loaderRoute(options),
    ...imageRoutes(options),
    {
      path: '/healthz',
      pattern: /^\/healthz$/,
      answer: () => bytesAnswer(Buffer.from('ok\n'), 'text/plain'),
    },
  ];
}

/** The same for every machine. */
function firstScripts({ script, autoexec, httpUrl }: BootRoutesOptions): Route[] {
  return [
    { path: '/boot.ipxe', pattern: /^\/boot\.ipxe$/, answer: () => scriptAnswer(script) },
    {
      path: `/ipxe/${autoexecName}`,
      pattern: /^\/ipxe\/autoexec\.ipxe$/,
      answer: () => (autoexec === undefined ? undefined : scriptAnswer(autoexec)),
    },
    { path: '/grub/grub.cfg', pattern: grubConfigPattern, answer: () => grubConfig(httpUrl) },
  ];
}

function machineScripts({ boots, decide, holders, httpUrl, machineUrl }: BootRoutesOptions): Route[] {
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
    { path: '/ipxe', pattern: /^\/ipxe$/, answer: (request) => machineScript(request, machine) },
    {
      path: '/grub/menu/<mac>/<cpu>/<uuid>',
      pattern: machineMenuPattern,
      answer: (request) => machineMenu(request, machine),
    },
  ];
}

function loaderRoute(options: BootRoutesOptions): Route {
  return {
    path: '/ipxe/<file>',
    pattern: binaryPattern,
    isDownload: true,
    answer: (request) => {
      const answer = binary(request, options.files);
      if (answer !== undefined && request.method === 'GET') noteLoader(request, options);
      return answer;
    },
  };
}

function imageRoutes(options: BootRoutesOptions): Route[] {
  const { images } = options;
  return [
    {
      path: '/images/sha256/<digest>',
      pattern: imagePattern,
      isDownload: true,
      answer: (request) => notedImage(request, options, image(request, images)),
    },
    {
      path: '/images/sha256/<digest>/ramdisk.efi',
      pattern: wholeImagePattern,
      isDownload: true,
      answer: (request) => notedImage(request, options, wholeImage(request, images)),
    },
    {
      path: '/media/<token>.iso',
      pattern: mediumPattern,
      isDownload: true,
      answer: (request) => medium(request, images),
    },
  ];
}
