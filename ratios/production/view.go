package production

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// View has the suggestions and how ratios follow them at one time. It must not be modified.
type View struct {
	// Since is when replicas were first looked at; zero if they were not yet.
	Since time.Time
	// Until is when the evidence ended that the suggestions follow from; zero if there is none yet. Baseline is the node type that
	// they are relative to.
	Until    time.Time
	Baseline string
	// Applies means that ratios follow the suggestions.
	Applies bool
	// Confidence is the confidence level of the intervals.
	Confidence float64
	// Suggestions are sorted by node type.
	Suggestions []Suggestion
	// Progress has the node types that follow their suggestions, and those that return to the ratio of the other sources.
	Progress map[string]measured.Progress
	// Windows is how many windows must confirm a change.
	Windows int
	// Without is why nothing is known of any node type, and what would change that; nil if usage is collected.
	Without *Doubt
}

// Suggestion returns the suggestion for a node type.
func (v *View) Suggestion(nodeType string) (*Suggestion, bool) {
	s := (&content{Suggestions: v.Suggestions}).suggestion(nodeType)
	return s, s != nil
}

// View returns what this replica knows now. All replicas know the same.
func (j *Judge) View() *View {
	now, _ := j.config.Provider.current()
	at := j.config.Clock.Now()
	applies := j.config.Applies()
	judgment := j.judgment(&now, applies, at)
	var without *Doubt
	if j.config.Evidence == nil {
		without = &withoutUsage
	}
	return &View{
		Since: now.Since, Until: now.Until, Baseline: now.Baseline, Applies: applies, Confidence: j.settings.Confidence,
		Suggestions: now.Suggestions, Progress: judgment.Progress(now.Published, at), Windows: j.pace.Windows, Without: without,
	}
}
