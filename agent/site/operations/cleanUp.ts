import { repeatable, type SiteAction } from './action.ts';

export const cleanUp: SiteAction<'boot.cleanUp'> = {
  run: async (_input, { nodeId, state }) =>
    state.atomically(() => {
      state.sessions.end(nodeId);
      state.tokens.forget(nodeId);
      return { removed: state.entries.remove(nodeId) };
    }),
  settle: repeatable,
};
