module.exports = class Judge {
  id() { return 'judge'; }
  async callApi(prompt) {
    const tokenUsage = { prompt: 300, completion: 30, total: 330, cached: 0, numRequests: 1 };
    if (prompt.includes('is-down')) throw new Error('judge is down');
    if (prompt.includes('is-erring')) return { error: 'judge: 529' };
    if (prompt.includes('is-rubbish')) return { output: 'I think it is fine', tokenUsage };
    const pass = !prompt.includes('is-strict');
    return { output: JSON.stringify({ pass, score: pass ? 0.8 : 0.1, reason: pass ? 'polite' : 'not polite' }), tokenUsage, cost: 0.002 };
  }
};
