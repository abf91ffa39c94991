const dayMs = 24 * 3_600_000;

/**
 * How long an agent's certificate is valid. Agents renew at half of it: when the link breaks, a site has at least fifteen days left, far
 * longer than any boot entry that it could still serve.
 */
export const certificateValidMs = 30 * dayMs;
