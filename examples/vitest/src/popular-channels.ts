import type { Client } from 'strand-server/client'

/** Names of the live channels of a game that have at least so many viewers, the largest first. */
export async function popularChannels(
  helix: Client['helix'],
  gameId: string,
  viewers: number,
): Promise<string[]> {
  const names: string[] = []
  for await (const stream of helix.getStreams.each({ game_id: [gameId], first: 100 })) {
    // The list is ordered by viewers, so the remaining pages need not be read.
    if (stream.viewer_count < viewers) break
    names.push(stream.user_name)
  }
  return names
}
