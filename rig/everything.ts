/** A run: the trials, then the stage and the world are made, the faults strike one after the other, the report is kept. */
import type { Lifetime } from '../src/kit/lifetime.ts'
import { keepResults, showInReadme } from '../tools/keep.ts'
import type { Fault, Finding, Ground, Trial } from './faults/fault.ts'
import { untilNodesAgree } from './load/agreement.ts'
import { Caller } from './load/caller.ts'
import { makeReport, type Shown, toMarkdown } from './metrics.ts'
import type { Plan } from './options.ts'
import { output, runSteps, type Step } from './progress.ts'
import { openStage } from './stage.ts'
import { makeWorld } from './world.ts'

const HOME = import.meta.dirname

/** Gives whether every goal held. */
export async function runEverything(plan: Plan, folder: string, lifetime: Lifetime): Promise<boolean> {
  let ground: Ground | undefined
  const shown: Shown[] = []
  const making: Step = {
    name: 'three PostgreSQL servers, four Strand nodes, a world',
    seconds: 10 + plan.streams / 300,
    run: async () => {
      const stage = await openStage(folder, plan, lifetime)
      const caller = new Caller(stage.balancer.url)
      const [node] = stage.nodes
      if (node === undefined) throw new Error('there are four nodes')
      const world = await makeWorld(caller, node.url, stage.operatorToken, plan.streams)
      await untilNodesAgree(stage)
      ground = { stage, world, pace: plan.pace }
    },
  }
  const stepOf = (entry: Fault | Trial): Step => ({
    name: `${entry.name}: ${entry.what}`,
    seconds: entry.seconds(plan.pace),
    run: async () => {
      const found = needsCluster(entry)
        ? await entry.strike(ground ?? missingStage())
        : await entry.run({ folder, lifetime, pace: plan.pace })
      const findings = found.map(plan.safety ? judgedForSafety : judgedForAll)
      for (const each of findings) output(`  ${each.verdict.padEnd(6)} ${each.asked}: ${each.measured}`)
      shown.push({ fault: entry.name, what: entry.what, findings })
    },
  })
  // Trials come first: beside them, a cluster would only take time.
  const trials = plan.chosen.filter(entry => !needsCluster(entry)).map(stepOf)
  const strikes = plan.chosen.filter(needsCluster).map(stepOf)
  const publish = () => {
    const hosts = plan.hosts === 'all' ? 'all three addresses' : 'one address that leads to the primary'
    const { seconds, rounds, seed } = plan.pace
    const circumstances = `${plan.streams} live streams, faults of ${seconds} s and ${rounds} rounds, nodes with ${hosts}, seed ${seed}`
    const report = makeReport(circumstances, shown)
    const markdown = toMarkdown(report)
    keepResults(HOME, { '.json': `${JSON.stringify(report, undefined, 2)}\n`, '.md': markdown })
    console.log(markdown)
    if (plan.write && shown.length === plan.chosen.length) showInReadme(HOME, 'report', markdown)
  }
  try {
    await runSteps([...trials, ...(strikes.length > 0 ? [making] : []), ...strikes])
  } finally {
    if (shown.length > 0) publish()
  }
  return shown.every(each => each.findings.every(finding => finding.verdict !== 'broken'))
}

const needsCluster = (entry: Fault | Trial): entry is Fault => 'strike' in entry

function missingStage(): never {
  throw new Error('there is no stage')
}

const judgedForAll = (finding: Finding): Finding => finding

/** Speed is only noted. */
function judgedForSafety(finding: Finding): Finding {
  return finding.isOfSpeed ? { ...finding, verdict: 'noted' } : finding
}
