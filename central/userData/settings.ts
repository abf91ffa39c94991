import Type, { type Static } from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import type { Pins } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import type { Template } from './render.ts';

/** What user data is rendered with, besides what belongs to one node. */
export interface UserDataSettings {
  /** The base URL that deployed OSes join. Default: the agents' listener as it is advertised. */
  controlPlaneUrl?: string;
  /** Where a deployed OS downloads `bcd` from, and the digest that it must have. */
  bcdUrl?: string;
  bcdSha256?: string;
  /** The trust anchors of another control plane than this one; all three, or none. */
  pins?: Pins;
  /** Further templates by name; or a folder of them: a profile's `userData.template` names a file in it. */
  templates?: Readonly<Record<string, Template>> | string;
  /** How long a provisioned join token is valid; default 7200 s. */
  tokenTtlSeconds?: number;
}

export const defaultTokenTtlSeconds = 7200;

/** A plain word of a command line, of a systemd unit and of YAML alike. */
const Host = '[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?';
/** SPKI digest as RFC 7469 writes it: 32 bytes in base64. */
const Pin = Type.String({ pattern: '^sha256/[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' });

const Settings = Type.Object(
  {
    controlPlaneUrl: Type.Optional(
      Type.String({ maxLength: 2048, pattern: `^https?://${Host}(:\\d{1,5})?(/[A-Za-z0-9._~/-]*)?$` }),
    ),
    // Single-quoted for `sh -c`: everything but quotes, backslashes, blanks and control characters is fine.
    bcdUrl: Type.Optional(
      Type.String({
        maxLength: 8192,
        pattern: '^https?://(?:(?!\\{\\{)(?![\\u0000-\\u001f\\u007f-\\u009f])[^\\s\'"\\\\])+$',
      }),
    ),
    bcdSha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    pins: Type.Optional(
      Type.Object(
        { servingCaPin: Pin, joinSigningPin: Pin, joinEncryptionPin: Pin },
        { additionalProperties: false },
      ),
    ),
    tokenTtlSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 * 24 * 3600 })),
  },
  { additionalProperties: false },
);

/**
 * Checks what user data is to be rendered with, and returns it.
 * @throws RailheadError INVALID_CONFIG whose `details.path` is `userData.…`
 */
export function checkUserData(settings: UserDataSettings): UserDataSettings {
  const { templates, ...plain } = settings;
  checkSettings(plain);
  checkTemplates(templates);
  return settings;
}

function checkSettings(plain: Static<typeof Settings>): void {
  try {
    validate(Settings, plain, 'INVALID_CONFIG');
  } catch (error) {
    if (!(error instanceof RailheadError)) throw error;
    const path = ['userData', error.details.path].filter(Boolean).join('.');
    throw new RailheadError('INVALID_CONFIG', `${path}: ${hint(path) ?? error.details.expected}`, {
      ...error.details,
      path,
    });
  }
}

const hints: Readonly<Record<string, string>> = {
  'userData.controlPlaneUrl':
    'must be an http(s) URL without spaces, quotes or characters that a shell, systemd or YAML reads otherwise',
  'userData.bcdUrl': 'must be an http(s) URL without quotes, backslashes, whitespace or {{',
  'userData.bcdSha256': 'must be 64 lower-case hex digits',
};

function hint(path: string): string | undefined {
  if (path.startsWith('userData.pins.'))
    return 'give all three pins, each sha256/ and the base64 digest of the SPKI, or none';
  return hints[path];
}

function checkTemplates(templates: UserDataSettings['templates']): void {
  if (templates === undefined || typeof templates === 'string') return;
  for (const [name, template] of Object.entries(templates))
    if (typeof template !== 'string' && typeof template !== 'function')
      throw new RailheadError('INVALID_CONFIG', `userData.templates.${name}: must be a text or a function`, {
        path: `userData.templates.${name}`,
      });
}
