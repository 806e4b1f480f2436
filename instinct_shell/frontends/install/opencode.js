// Instinct Shell for opencode. Written by `instinct install`; `instinct uninstall` removes it.
// Starts the hook program for each tool call. Everything but a clear allow throws, and opencode tells the model the message.
import { spawnSync } from "node:child_process"

const HOOK = "@HOOK@"
const LIMIT_MS = 10000

function ask(moment, input, args, directory, output) {
  const done = spawnSync(HOOK, ["--agent", "opencode", moment], {
    input: JSON.stringify({ input: { tool: input.tool, sessionID: input.sessionID, callID: input.callID }, args: args ?? {}, cwd: directory, output }),
    encoding: "utf8",
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    maxBuffer: 64 * 1024 * 1024,
  })
  let said = null
  try {
    if (done.status === 0 && !done.error) said = JSON.parse(done.stdout)
  } catch {
    said = null
  }
  if (said && said.decision === "allow") return said
  throw new Error((said && said.reason) || (done.stderr || "").trim() || "instinct: denied, because the hook failed; run: instinct doctor")
}

export const InstinctShell = async ({ directory }) => ({
  // The shell then knows the session that the hook knows: one workspace, one budget, one jail.
  "shell.env": async (input, output) => {
    if (input.sessionID) output.env.OPENCODE_SESSION_ID = input.sessionID
  },
  "tool.execute.before": async (input, output) => {
    const said = ask("pre", input, output.args, directory)
    if (said.args) output.args = said.args
  },
  "tool.execute.after": async (input, output) => {
    try {
      const said = ask("post", input, output?.args ?? input?.args ?? {}, directory, output?.output)
      if (typeof said.output === "string") output.output = said.output
    } catch {
      // It has run; there is nothing left to stop.
    }
  },
})
