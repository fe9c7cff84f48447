package plan

import (
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Reason is a reason with its details.
type Reason struct {
	Code    contract.Reason
	Message string
}

// Where is where something must change before a skipped pod can be resized.
type Where int

const (
	Nowhere Where = iota
	InNamespace
	OnNode
)

// trait is what the planner and the loop must know of a reason.
type trait struct {
	// waits is where something must change before a pod that was skipped for the reason can be resized.
	waits Where
	// part means that only a part of the pod may stay because of it, while the rest has its desired size.
	part bool
	// restless means that its message changes with other pods, so that a different message is not new.
	restless bool
	// urgency ranks what a node says of a resize: a higher value requires action sooner.
	urgency int
}

// traits has the reasons for which not all are zero.
var traits = map[contract.Reason]trait{
	contract.NodePressure:        {waits: OnNode},
	contract.NodeCapacity:        {waits: OnNode, restless: true},
	contract.RevertBlocked:       {waits: OnNode, restless: true},
	contract.LimitRangeViolation: {waits: InNamespace},
	contract.QuotaExceeded:       {waits: InNamespace, restless: true},

	contract.ResizeInProgress: {urgency: 1, restless: true},
	contract.ResizeDeferred:   {urgency: 2, restless: true},
	contract.ResizeError:      {urgency: 3, waits: OnNode},
	contract.ResizeInfeasible: {urgency: 4, waits: OnNode},

	contract.ActiveVPA:          {part: true},
	contract.Reverted:           {part: true},
	contract.RestartRequired:    {part: true},
	contract.MemoryLimitKept:    {part: true},
	contract.SingletonLimitKept: {part: true},
	contract.LoweredInSteps:     {part: true, restless: true},
	contract.WaitingForCanary:   {part: true, restless: true},
	contract.CanaryReverted:     {part: true, restless: true},
	contract.WaitingForOthers:   {part: true, restless: true},
	contract.DisruptionBudget:   {part: true, restless: true, waits: InNamespace},
}

// Waits returns where something must change before a pod that was skipped for the reason can
// be resized.
func Waits(reason contract.Reason) Where { return traits[reason].waits }

// IsRestless reports whether the message of a reason changes with other pods, so that a different message is
// not new.
func IsRestless(reason contract.Reason) bool { return traits[reason].restless }

// Urgency ranks the codes for the status of a resize: a higher value requires action sooner.
// It is 0 for all other codes.
func Urgency(code contract.Reason) int { return traits[code].urgency }

// withheld reports whether part of the pod does not get its desired size.
func (p *Plan) withheld() bool {
	return slices.ContainsFunc(p.Reasons, func(r Reason) bool { return traits[r.Code].part })
}

// mostOfAReason is the maximum length of a reason in bytes before it ends with andMore.
// Reasons appear in events, logs and responses, and a pod may have a thousand containers.
const (
	mostOfAReason = 4096
	andMore       = "; and more"
)

// because adds a reason. Each code has one reason with the details of all containers.
func (p *Plan) because(code contract.Reason, message string) {
	for i := range p.Reasons {
		r := &p.Reasons[i]
		switch {
		case r.Code != code:
			continue
		case strings.HasSuffix(r.Message, andMore):
		case len(r.Message)+len(message) <= mostOfAReason:
			r.Message += "; " + message
		default:
			r.Message += andMore
		}
		return
	}
	if len(message) > mostOfAReason {
		message = strings.ToValidUTF8(message[:mostOfAReason], "") + andMore
	}
	p.Reasons = append(p.Reasons, Reason{code, message})
}

// merged returns reasons with the same code as one.
func merged(reasons []Reason) Reason {
	var p Plan
	for _, r := range reasons {
		p.because(r.Code, r.Message)
	}
	return p.Reasons[0]
}

// joined joins the texts with separators, up to the maximum length of a reason.
func joined(texts []string, separator string) string {
	bytes := 0
	for i, text := range texts {
		if bytes += len(separator) + len(text); i > 0 && bytes > mostOfAReason {
			return strings.Join(texts[:i], separator) + andMore
		}
	}
	return strings.Join(texts, separator)
}
