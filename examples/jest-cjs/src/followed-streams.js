class TokenExpired extends Error {}

/** The live channels that a user follows, the largest first. Throws TokenExpired if the user has to log in again. */
async function followedStreams(url, { token, user_id }) {
  const response = await fetch(`${url}/helix/streams/followed?user_id=${user_id}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  if (response.status === 401) throw new TokenExpired('the token has expired')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  return (await response.json()).data.map(stream => stream.user_login)
}

module.exports = { followedStreams, TokenExpired }
