import { explainRules } from "@nightwriter/ledger";
import { type Answer, answer } from "../answer.ts";
import { renderTable } from "../output/table.ts";

/** What each rule of verify proves, and what none can see. */
export function explainVerification(): Answer {
  const explanation = explainRules();
  const rules = renderTable(
    [{ title: "rule" }, { title: "what it says" }],
    explanation.rules.map(({ rule, claim }) => [rule, claim]),
  );
  const unseen = explanation.unseen.map((each) => `- ${each}`);
  return answer({ inOrder: true, document: explanation, text: [rules, "", "no rule sees:", ...unseen].join("\n") });
}
