package guard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Answer is what the query of an objective said of a pod. A value that the query does not have is NaN,
// which breaks no objective.
type Answer struct {
	// Name is the name of the objective.
	Name string
	// Before is the value before the resize, and Since the newest one since then.
	Before, Since Value
	// Unknown is why one of them is not known; empty if both are.
	Unknown string
}

// missed looks for objectives that the pod breaks, and did not break before the resize. Any resource can be
// the reason, unless a container was killed for lack of memory, even shortly before the resize: that breaks
// objectives by itself, and is judged by killed. While cpu was boosted, the pod may have met objectives that it cannot meet.
func missed(c *Case, change *Change) finding {
	if change.Unboosts {
		return finding{}
	}
	var texts []string
	for _, kill := range c.Pod.Kills() {
		if kill.At.Add(c.Settings.Window).After(c.Pod.ResizedAt()) {
			return finding{}
		}
	}
	for i := range c.Settings.Objectives {
		o := &c.Settings.Objectives[i]
		answer := c.answer(o.Name)
		if !answer.Before.Known || !answer.Since.Known || o.IsBrokenBy(answer.Before.N) || !o.IsBrokenBy(answer.Since.N) {
			continue
		}
		beyond := "above "
		threshold := o.Above
		if threshold == nil {
			beyond, threshold = "below ", o.Below
		}
		texts = append(texts, fmt.Sprintf("objective %s: %s is %s%s, %s before the resize", o.Name, number(answer.Since.N), beyond, number(*threshold), number(answer.Before.N)))
	}
	return finding{kind: contract.Objective, evidence: strings.Join(texts, "; ")}
}

// number returns a value of a query.
func number(n float64) string {
	if n != n {
		return "nothing"
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}

// answer returns what the query of an objective said.
func (c *Case) answer(name string) Answer {
	for _, answer := range c.Signals.Objectives {
		if answer.Name == name {
			return answer
		}
	}
	return Answer{Name: name, Unknown: "this replica has not asked since the resize, and only the leader asks"}
}

// unknownObjectives returns the objectives of which something is not known, with the reasons.
func (c *Case) unknownObjectives() (texts []string) {
	for i := range c.Settings.Objectives {
		if answer := c.answer(c.Settings.Objectives[i].Name); !answer.Before.Known || !answer.Since.Known {
			texts = append(texts, "objective "+answer.Name+" ("+answer.Unknown+")")
		}
	}
	return texts
}
