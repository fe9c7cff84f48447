package plans

import (
	"regexp"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Remedy is a step that says what to do, "Title: text", and the commands for that.
type Remedy struct {
	Text     string
	Commands []print.Command
}

// whyNotResized is the remedy for what the server does not say: it retries writes that failed, and that is not in the plan.
const whyNotResized = "if the pod is not resized within a minute, its events say why: `kubectl describe pod POD -n NAMESPACE`"

// Remedies say what to do about each reason. They are the last steps of an explanation.
func Remedies(o *print.Output, e *workloadresizerv1.Explanation) []Remedy {
	f := &facts{e, e.GetPlan()}
	known := f.known()
	var all []Remedy
	for _, r := range e.GetRemedies() {
		info, _ := contract.Reason(r.GetCode()).Info()
		one := Remedy{Text: "Remedy for " + print.OneLine(r.GetCode()) + ": " + o.Commands(print.Remedy(r.GetMessage(), nil)) + "."}
		// Another version of the server may advise something else. Its words are only text.
		if strings.EqualFold(r.GetMessage(), fill(info.Remedy, known)) {
			one.Commands = commandsIn(info.Remedy, known)
		}
		all = append(all, one)
	}
	if f.plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE && !f.because(string(contract.WaitingForTurn)) {
		all = append(all, Remedy{"Remedy: " + o.Commands(print.Remedy(fill(whyNotResized, known), nil)) + ".", commandsIn(whyNotResized, known)})
	}
	if len(all) == 0 {
		return []Remedy{{Text: "Remedy: nothing needs to be done."}}
	}
	return all
}

// known returns the arguments that the words of remedies stand for, as far as they are known.
func (f *facts) known() map[string]print.Command {
	known := map[string]print.Command{
		"POD": print.Argument(f.plan.GetPod()), "NAMESPACE": print.Argument(f.plan.GetNamespace()),
		"NODE": print.Argument(f.plan.GetNode()), "TYPE": print.Argument(f.plan.GetNodeType()),
	}
	if holds := f.GetHolds(); len(holds) > 0 {
		known["SCOPE"] = print.ScopeArguments(holds[0].GetScope())
	}
	return known
}

var (
	capitals = regexp.MustCompile(`\b[A-Z]+\b`)
	// inBackticks matches the commands of a remedy.
	inBackticks = regexp.MustCompile("`((?:resizectl|kubectl) [^`]+)`")
)

// fill returns a remedy of the table of reasons as the server does.
func fill(remedy string, known map[string]print.Command) string {
	return capitals.ReplaceAllStringFunc(remedy, func(word string) string {
		if names := known[word]; names != nil {
			return strings.Join(names, " ")
		}
		return word
	})
}

// commandsIn returns the commands of a remedy of the table of reasons, without those that only a person can complete.
func commandsIn(remedy string, known map[string]print.Command) (all []print.Command) {
	for _, found := range inBackticks.FindAllStringSubmatch(remedy, -1) {
		if c := print.CommandOf(found[1], known); c != nil {
			all = append(all, c)
		}
	}
	return all
}
