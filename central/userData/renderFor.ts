import { RailheadError } from '#contract/errors.ts';
import type { Profile } from '#contract/profiles.ts';
import type { CentralContext } from '../context.ts';
import { centralPins } from '../join/pins.ts';
import { renderTemplate, type Template } from './render.ts';
import { checkUserData } from './settings.ts';

/**
 * The first-boot document of one node with its join token.
 * @throws RailheadError INVALID_CONFIG when the centre's settings lack or hold something that the template cannot use
 */
export function renderFor(
  central: Pick<CentralContext, 'userData' | 'advertise' | 'keys'>,
  { nodeId, joinToken }: { nodeId: string; joinToken: string },
  kind: NonNullable<Profile['userData']>['kind'],
  template: Template,
): string {
  const settings = checkUserData({ controlPlaneUrl: central.advertise, ...central.userData });
  const { controlPlaneUrl, bcdUrl, bcdSha256, pins = centralPins(central.keys) } = settings;
  const node = { nodeId, hostname: nodeId.replaceAll('_', '-'), joinToken };
  const document = renderTemplate(template, { ...node, controlPlaneUrl, bcdUrl, bcdSha256, ...pins });
  if (kind === 'ignition') checkJson(document);
  return document;
}

/** A custom Ignition template is a text: a value with a quote in it would make it something else. */
function checkJson(document: string): void {
  try {
    if (typeof JSON.parse(document) === 'object') return;
  } catch {}
  const message = 'the ignition template does not render to a JSON object: correct the template';
  throw new RailheadError('INVALID_CONFIG', message, { path: 'userData.template' });
}
