// In place of a model that costs money, a scripted one follows the prompt.
const ANSWERS = {
  "How long does green tea steep?": "Two minutes, at 80 degrees.",
  "Which tea has no caffeine?": "Rooibos and all fruit teas have none.",
  "Do you ship to Norway?": "Yes, to Norway it takes six working days.",
  "I swallowed the bag of silica gel.": "Ask a doctor or a poison line at once. The gel itself is not a tea.",
  "My throat swells from your tea.": "Call a doctor at once: this may be an allergy. We list all ingredients on the pack.",
  "Can I return opened tea?": "Opened tea can't be returned, closed tins within 14 days.",
};

module.exports = class {
  id() {
    return "scripted-bot";
  }

  async callApi(prompt, { vars }) {
    const whole = ANSWERS[vars.question];
    const careful = prompt.includes("name a doctor first");
    const output = careful ? whole : whole.replace(/^[^.:]*doctor[^.:]*[.:] /, "");
    return { output, tokenUsage: { prompt: 40, completion: 12, total: 52 } };
  }
};
