import type { Algorithms } from 'ssh2';

/** What every BMC of the last ten years has (RFC 9142): no SHA-1, no CBC, no group of 1024 bits. */
export const usual: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group-exchange-sha256',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
};

/** With what older ones have, last: for a BMC whose operator allowed it. */
export const withOld: Algorithms = {
  kex: [
    ...(usual.kex as string[]),
    'diffie-hellman-group14-sha1',
    'diffie-hellman-group-exchange-sha1',
    'diffie-hellman-group1-sha1',
  ] as never,
  serverHostKey: [...(usual.serverHostKey as string[]), 'ssh-rsa', 'ssh-dss'] as never,
  cipher: [...(usual.cipher as string[]), 'aes256-cbc', 'aes192-cbc', 'aes128-cbc', '3des-cbc'] as never,
  hmac: [...(usual.hmac as string[]), 'hmac-sha1', 'hmac-md5'] as never,
};
