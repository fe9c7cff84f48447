package print

import (
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// UsageProblem is something that is wrong with a source of usage or the storage of history.
type UsageProblem struct {
	Message string
	// Remedy is what to do about it; empty if the message says so itself, or nothing is known to help.
	Remedy string
}

// UsageProblems returns what is wrong with the sources of usage and the storage of history.
func UsageProblems(resp *workloadresizerv1.GetUsageStatusResponse) []UsageProblem {
	var found []UsageProblem
	for _, source := range resp.GetSources() {
		if message := OneLine(source.GetMessage()); message != "" {
			found = append(found, UsageProblem{"source " + OneLine(source.GetName()) + ": " + message, usageRemedy(source.GetName(), message)})
		}
	}
	if message := OneLine(resp.GetStorage().GetMessage()); message != "" {
		found = append(found, UsageProblem{"storage: " + message, usageRemedy("", message)})
	}
	return found
}

// usageRemedies are what to do about messages of the Kubernetes API and of Prometheus, by how the name of
// the source begins. Messages of our own say it themselves.
var usageRemedies = []struct{ source, contains, remedy string }{
	{"", "is forbidden", "apply the manifests of this version again: they give the server its rights (docs/tasks/install.md)"},
	{"metrics", "could not find", "install metrics-server, or start the server without metrics in --usage-sources"},
	{"metrics", "currently unable to handle the request", "see why metrics-server does not answer: kubectl describe apiservice v1beta1.metrics.k8s.io"},
	{"prometheus", "connection refused", "check that Prometheus runs, and --usage-prometheus-url of the server"},
	{"prometheus", "no such host", "check --usage-prometheus-url of the server"},
	{"prometheus", "client error: 401", "check the password in --usage-prometheus-url of the server, or its --usage-prometheus-token-file"},
	{"prometheus", "client error: 403", "check the password in --usage-prometheus-url of the server, or its --usage-prometheus-token-file"},
	{"prometheus", "unknown authority", "name the authority of its certificate with --usage-prometheus-ca-file of the server"},
}

// usageRemedy returns what to do about a message; empty if nothing is known.
func usageRemedy(source, message string) string {
	for _, r := range usageRemedies {
		if strings.HasPrefix(source, r.source) && strings.Contains(message, r.contains) {
			return r.remedy
		}
	}
	return ""
}
