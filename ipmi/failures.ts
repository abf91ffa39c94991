import { RailheadError } from '#contract/errors.ts';
import type { ToolRun } from './ipmitool.ts';

/** What kept a command from being done, as far as ipmitool's words tell. */
export type FailureKind =
  /** The BMC does not know the cipher suite. */
  | 'cipher-suite'
  /** It knows the user, who may not be an administrator. */
  | 'privilege'
  | 'credentials'
  | 'busy'
  /** No session came about, and nothing says why. */
  | 'no-session'
  | 'timeout'
  /** The BMC answered with a completion code other than 0. */
  | 'completion';

export interface Failure {
  kind: FailureKind;
  /** IPMI 2.0 table 5-2, where the words tell it. */
  completionCode?: number;
  /** What ipmitool said last. */
  words: string;
}

/** Words of ipmitool 1.8.18 and 1.8.19 (`src/plugins/lanplus/lanplus.c`, status codes of RMCP+ by IPMI 2.0 table 13-15). */
const sessionWords: readonly [RegExp, FailureKind][] = [
  [
    /no (matching )?cipher suite|invalid (authentication|integrity|confidentiality) algorithm|Unsupported cipher suite/i,
    'cipher-suite',
  ],
  [/invalid role|unauthorized role|privilege level/i, 'privilege'],
  [
    /RAKP [24] (HMAC|message).*invalid|unauthorized name|unauthorized GUID|invalid (user )?name|incorrect integrity|invalid integrity check/i,
    'credentials',
  ],
  [/insufficient resources/i, 'busy'],
];

const completionWords: readonly [RegExp, number][] = [
  [/Node busy/i, 0xc0],
  [/Invalid command/i, 0xc1],
  [/Insufficient privilege level/i, 0xd4],
  [/not supported in present state/i, 0xd5],
  [/Invalid data field/i, 0xcc],
  [/Parameter out of range/i, 0xc9],
];

/** Why a run of ipmitool failed. `stopped` runs took longer than they were given. */
export function failureOf({ status, stderr, stdout }: ToolRun): Failure {
  const words = lastWords(stderr) || lastWords(stdout) || `status ${status}`;
  if (status === undefined) return { kind: 'timeout', words: 'no answer in time' };
  if (!/Unable to establish|Error in open session|RAKP/i.test(stderr)) return completion(stderr, words);
  const kind = sessionWords.find(([pattern]) => pattern.test(stderr))?.[1] ?? 'no-session';
  const said = stderr.split('\n').find((line) => sessionWords.some(([pattern]) => pattern.test(line)));
  return { kind, words: said?.replace(/^[>\s]+/, '').trim() ?? words };
}

function completion(stderr: string, words: string): Failure {
  if (/Address lookup|Could not open socket|Get Auth Capabilities|Get Channel Cipher/i.test(stderr))
    return { kind: 'no-session', words };
  // Only what was said last is of the command: with -v there are others' before.
  const code = /rsp=0x([0-9a-f]{2})|\(0x([0-9a-f]{2})\)\s*$/i.exec(words);
  const number = code ? Number.parseInt(code[1] ?? code[2] ?? '', 16) : undefined;
  const completionCode = number ?? completionWords.find(([pattern]) => pattern.test(words))?.[1];
  if (completionCode === 0xc0) return { kind: 'busy', completionCode, words };
  return { kind: 'completion', words, ...(completionCode !== undefined && { completionCode }) };
}

/** Debian's package has no registry of vendors' names, and ipmitool says so at each start. */
function lastWords(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/IANA PEN registry/i.test(line));
  return (lines.at(-1) ?? '').trim().slice(0, 300);
}

/** The error that a failure is told by. `what` was asked for, e.g. `chassis power on`. */
export function ipmiError(failure: Failure, what: string): RailheadError {
  const [reason, sentence] = told[failure.kind];
  const { completionCode } = failure;
  return new RailheadError('DRIVER_ERROR', `${sentence} (${what}: ${failure.words})`, {
    reason,
    ...(completionCode !== undefined && { completionCode }),
  });
}

const told: Readonly<Record<FailureKind, [reason: string, sentence: string]>> = {
  'cipher-suite': ['cipher-suite', 'the BMC speaks neither cipher suite 17 nor 3: update its firmware'],
  privilege: [
    'credentials-refused',
    'the BMC lets this user neither administer nor operate: raise its privilege',
  ],
  credentials: ['credentials-refused', 'the BMC refused user name or password: set the secret anew'],
  busy: ['busy', 'the BMC is busy: try again later'],
  'no-session': [
    'unreachable',
    'the BMC opens no IPMI session: check its address, and that IPMI over LAN is on',
  ],
  timeout: ['unreachable', 'the BMC did not answer in time'],
  completion: ['refused', 'the BMC refused a command'],
};
