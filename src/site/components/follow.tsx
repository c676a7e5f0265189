/** @jsxRuntime automatic @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { counted } from '../format/numbers.ts'
import { postForm } from '../scripts/send-form.ts'
import { Form } from './form.tsx'
import { FULL_HEART, HEART, Icon } from './icon.tsx'

/** How the person who looks at a channel stands to it. Without `csrf` they are not logged in. */
export interface Following {
  readonly login: string
  readonly followers: number
  readonly isFollowing: boolean
  readonly isOwn: boolean
  readonly csrf?: string
}

/** Follows or unfollows. Inside an island the page stays, and with it what plays; elsewhere it is loaded again. */
export function Follow({ login, csrf, isOwn, ...before }: Following) {
  const [{ isFollowing, followers }, setState] = useState(before)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const changed = { isFollowing: !isFollowing, followers: followers + (isFollowing ? -1 : 1) }
    setState(changed)
    void send(form).catch(() => {
      setState({ isFollowing, followers })
      // Without the script, the page reports what is wrong.
      form.submit()
    })
  }
  return (
    <div class="follow">
      <span class="small quiet num">{counted(followers, 'follower', 'followers')}</span>
      {isOwn ? (
        <a class="button" href="/studio">
          Open the studio
        </a>
      ) : csrf === undefined ? (
        <a class="button primary" href={`/login?next=/${login}`}>
          <Icon shape={HEART} />
          Follow
        </a>
      ) : (
        <Form
          action="/follow"
          fields={{ csrf, login, decision: isFollowing ? 'unfollow' : 'follow' }}
          onSubmit={submit}
        >
          <button class={isFollowing ? '' : 'primary'} type="submit">
            <Icon shape={isFollowing ? FULL_HEART : HEART} />
            {isFollowing ? 'Following' : 'Follow'}
          </button>
        </Form>
      )}
    </div>
  )
}

/** The answer redirects to the channel, which is open already. */
async function send(form: HTMLFormElement): Promise<void> {
  const { type } = await postForm(form, 'text/html')
  if (type !== 'opaqueredirect') throw new Error('the follow was refused')
}
