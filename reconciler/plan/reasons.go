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

// withheld reports whether part of the pod does not get its desired size.
func (p *Plan) withheld() bool {
	return slices.ContainsFunc(p.Reasons, func(r Reason) bool { return r.Code.Traits().Part })
}

// mostOfAReason is the maximum length of a reason in bytes before it ends with andMore.
// Reasons appear in events, logs and responses, and a pod may have a thousand containers.
const (
	mostOfAReason = 4096
	separator     = "; "
	andMore       = separator + "and more"
)

// because adds a reason. Each code has one reason with the details of all containers.
func (p *Plan) because(code contract.Reason, message string) { p.addReason(Reason{code, message}) }

// addReason is like because.
func (p *Plan) addReason(more Reason) {
	more.Message = bounded(more.Message)
	for i := range p.Reasons {
		r := &p.Reasons[i]
		switch {
		case r.Code != more.Code:
			continue
		case strings.HasSuffix(r.Message, andMore):
		case len(r.Message)+len(separator)+len(more.Message) <= mostOfAReason:
			r.Message += separator + more.Message
		default:
			r.Message += andMore
		}
		return
	}
	p.Reasons = append(p.Reasons, more)
}

// bounded returns a message up to the maximum length of a reason. Bounded again, it is the same.
func bounded(message string) string {
	if len(message) > mostOfAReason+len(andMore) || len(message) > mostOfAReason && !strings.HasSuffix(message, andMore) {
		return strings.ToValidUTF8(message[:mostOfAReason], "") + andMore
	}
	return message
}

// merged returns reasons with the same code as one.
func merged(reasons []Reason) Reason {
	var p Plan
	for _, r := range reasons {
		p.addReason(r)
	}
	return p.Reasons[0]
}

// joined joins the texts with separators, up to the maximum length of a reason.
func joined(texts []string, by string) string {
	bytes := 0
	for i, text := range texts {
		if bytes += len(by) + len(text); i > 0 && bytes > mostOfAReason {
			return strings.Join(texts[:i], by) + andMore
		}
	}
	return strings.Join(texts, by)
}
