// A scripted provider: what the prompt says decides what happens.
module.exports = class Agent {
  constructor(options) { this.options = options || {}; this.config = this.options.config || {}; }
  id() { return this.options.id || 'agent'; }
  async callApi(prompt) {
    if (prompt.includes('throws')) throw new Error('connect ECONNREFUSED 127.0.0.1:9');
    if (prompt.includes('refused')) return { error: 'API error: 529 Overloaded' };
    const name = this.config.name || 'Ana';
    const usage = { prompt: 100, completion: 20, cached: 0, total: 120, numRequests: 2, completionDetails: { reasoning: 5, cacheReadInputTokens: 40, cacheCreationInputTokens: 10 } };
    if (prompt.includes('cached')) return { output: `Hello ${name}`, cached: true, tokenUsage: { total: 120, cached: 120, numRequests: 0 }, cost: 0.001 };
    if (prompt.includes('object')) return { output: { greeting: `Hello ${name}`, parts: [1, 2] }, tokenUsage: usage, cost: 0.001 };
    return { output: `Hello ${name} <b>\u001b[31m \ud800 \u0000</b>`, tokenUsage: usage, cost: 0.001,
      metadata: { toolCalls: [{ name: 'bash', args: { cmd: 'wc -l notes.txt' } }, { name: 'look_up', arguments: '{"who": "Ana"}' }] } };
  }
};
