package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

// notMeasured is why usage is not known.
const notMeasured = "nothing was measured of it in the time that history is kept for"

// unknown returns the error for an object of which nothing is known. why completes the sentence.
func unknown(what, name, why string) error {
	return rpcerror.NotFound(rpcerror.UsageUnknown, what, name, fmt.Sprintf("the usage of %s %s is not known: %s", what, name, why))
}

// unknownWorkload returns the error for a workload without pods that count and without history.
func (s *Service) unknownWorkload(of usagestore.Workload) error {
	return unknown("workload", nameOf(of), s.whyUnknown(of, s.config.Demands.PodsOf(of)))
}

// unknownContainer returns the error for containers without history.
func (s *Service) unknownContainer(of usagestore.Workload, container string) error {
	pods := s.config.Demands.PodsOf(of)
	why := ""
	switch measured := s.config.Demands.Measured(append(pods.CountFor, of)...); {
	case len(measured) > 0:
		why = fmt.Sprintf("%s; the containers with history are %s", notMeasured, strings.Join(measured, ", "))
	case pods.Running() > 0 && len(pods.CountFor) > 0:
		why = notMeasured
	default:
		why = s.whyUnknown(of, pods)
	}
	return unknown("container", nameOf(of)+"/"+container, why)
}

func nameOf(of usagestore.Workload) string { return of.Namespace + "/" + of.Kind + "/" + of.Name }

// whyUnknown returns why nothing is known of a workload, whose pods may exist nevertheless.
func (s *Service) whyUnknown(of usagestore.Workload, pods demand.Pods) string {
	label := s.config.Demands.JobLabelKey()
	switch {
	case pods.Total == 0:
		return "the server knows no pod of it" + namedByPods(of.Kind, label) + ", and " + notMeasured
	case len(pods.CountFor) == 0 && of.Kind == "Job":
		return podsText(pods.Total) + " for no workload, because pods of a Job without an owner need the label " + label + " (--usage-job-label of the server)"
	case len(pods.CountFor) == 0:
		return podsText(pods.Total) + " for no workload"
	}
	why := fmt.Sprintf("no pod of it runs (%d finished, %d without a node)", pods.Finished, pods.Unscheduled)
	if !slices.Contains(pods.CountFor, of) {
		var others []string
		for _, w := range pods.CountFor {
			others = append(others, w.Kind+"/"+w.Name)
		}
		why = podsText(pods.Total) + " for " + strings.Join(others, ", ") + ", " + why
	}
	return why + ", and " + notMeasured
}

// namedByPods returns which name to use instead for controllers whose owner can only be found while they
// have pods.
func namedByPods(kind, jobLabel string) string {
	switch kind {
	case "Job":
		return " (name the CronJob of its pods or, if there is none, the value of their label " + jobLabel + ")"
	case "ReplicaSet":
		return " (name its owner, such as a Deployment, for which its pods count)"
	}
	return ""
}

// podsText begins the sentence about what pods count for.
func podsText(n int) string {
	if n == 1 {
		return "its pod counts"
	}
	return fmt.Sprintf("its %d pods count", n)
}
