import { RailheadError } from '#contract/errors.ts';

/** What the `bcd join` of a deployed OS is told; the pins all three, or none. */
export interface JoinArguments {
  controlPlaneUrl: string;
  nodeId: string;
  servingCaPin?: string;
  joinSigningPin?: string;
  joinEncryptionPin?: string;
}

/** Where a deployed OS keeps the daemon, and its join token until it has joined. */
const bcdPath = '/usr/local/bin/bcd';
export const joinTokenPath = '/etc/bcd/join-token';

const pinFlags = {
  servingCaPin: '--serving-ca-pin',
  joinSigningPin: '--join-signing-pin',
  joinEncryptionPin: '--join-encryption-pin',
} as const;

/**
 * The `bcd join` call that a deployed OS makes, word by word. Without pins the three `--…-pin` arguments are left out.
 * @throws RailheadError INVALID_CONFIG for one or two of the three, which `bcd` would refuse
 */
export function bcdJoinArgv(join: JoinArguments): string[] {
  const pins = Object.entries(pinFlags).flatMap(([name, flag]) => {
    const pin = name in join ? join[name as keyof typeof pinFlags] : undefined;
    return pin === undefined ? [] : [flag, pin];
  });
  if (pins.length % 6 !== 0)
    throw new RailheadError(
      'INVALID_CONFIG',
      `give all three pins, or none: ${Object.keys(pinFlags).join(', ')}`,
      {
        path: 'pins',
      },
    );
  const { controlPlaneUrl, nodeId } = join;
  const told = ['--server', controlPlaneUrl, '--token-file', joinTokenPath, '--node-id', nodeId];
  return [bcdPath, 'join', ...told, ...pins];
}

/** The call that runs the node agent of a deployed OS. */
export function bcdNodeArgv(): string[] {
  return [bcdPath, 'node'];
}

/** The shell command that downloads `bcd` and lets it be run only when its digest is right. */
export function downloadCommand({ bcdUrl, bcdSha256 }: { bcdUrl: string; bcdSha256: string }): string {
  return `curl -fsSL '${bcdUrl}' -o ${bcdPath} && echo '${bcdSha256}  ${bcdPath}' | sha256sum -c - && chmod 0755 ${bcdPath}`;
}
