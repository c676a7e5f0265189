import express from 'express'
import passport from 'passport'
import { Strategy } from 'passport-twitch-strategy'

/** A web application that greets people who have logged in. */
export function createApp({ clientId, clientSecret, origin }) {
  const people = new passport.Passport()
  people.use(
    new Strategy(
      {
        clientID: clientId,
        clientSecret,
        callbackURL: `${origin}/callback`,
        scope: 'user:read:email',
      },
      (_accessToken, _refreshToken, profile, done) => done(null, profile),
    ),
  )
  const authenticate = people.authenticate('twitch', { session: false })
  const app = express()
  app.get('/login', authenticate)
  app.get('/callback', authenticate, (request, response) => {
    response.send(`Hello, ${request.user.displayName}`)
  })
  return app
}
