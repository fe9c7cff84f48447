package health

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
)

// Anyone who reaches the probes can read their answers. So these have only the fixed texts of
// this file: an error may quote a ConfigMap. The log and the API have the errors.
const (
	shuttingDown  = "shutting down"
	noCertificate = "certificate: there is no serving certificate yet"
	noRatios      = "ratios: there are no valid ratios yet"
	notRead       = "cluster: pods, nodes, holds or the freeze are not read yet"

	oldRatios      = "ratios: the last good ratios are in effect"
	implausible    = "ratios: implausible ratios are not used"
	oldCertificate = "certificate: the last good serving certificate is in effect"
	oldHolds       = "holds: the stored holds are not in effect"
	unreadFreeze   = "freeze: the server cannot read whether the cluster is frozen, and resizes no pod"
	unstorable     = "storage: changes cannot be stored because a ConfigMap does not exist"
	unknownOwners  = "workloads: a kind of workload cannot be read"
)

// details returns where the cause of a problem is. A standalone server has no status.
func (h *Health) details() string {
	if h.config.Reconciler == nil {
		return "The cause is in the server's log."
	}
	return `The cause is in the server's log and, for callers with the right, in "resizectl status".`
}

// ServeLive answers the liveness probe.
func (h *Health) ServeLive(w http.ResponseWriter, _ *http.Request) {
	if h.live() != nil {
		http.Error(w, "not live: the server makes no progress\n"+h.details(), http.StatusInternalServerError)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// ServeReady answers the readiness probe. A server that is ready still lists its problems as
// warnings.
func (h *Health) ServeReady(w http.ResponseWriter, _ *http.Request) {
	if missing := h.missing(); missing != "" {
		http.Error(w, "not ready: "+missing+"\n"+h.details(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
	warnings := h.warnings()
	for _, warning := range warnings {
		_, _ = fmt.Fprintln(w, "warning: "+warning)
	}
	if len(warnings) > 0 {
		_, _ = fmt.Fprintln(w, h.details())
	}
}

// missing returns what is missing while the server is not ready; empty once it is.
func (h *Health) missing() string {
	if h.ending.Load() {
		return shuttingDown
	}
	err := h.Ready()
	var notReady *cluster.NotReadyError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &notReady):
		return noCertificate
	case notReady.What == cluster.RatiosNotReady:
		return noRatios
	}
	return notRead
}

// warnings returns the problems of a server that is ready. Users must be able to see that the
// state in effect is old.
func (h *Health) warnings() (found []string) {
	var holds, freeze error
	if h.config.Holds != nil {
		holds, freeze = h.config.Holds.Err(), h.config.Holds.FreezeErr()
	}
	for _, check := range []struct {
		problem error
		text    string
	}{
		{h.config.Ratios.Problem(), oldRatios},
		{h.config.Ratios.ImplausibleRatios(), implausible},
		{h.Unstorable(), unstorable},
		{h.CertificateProblem(), oldCertificate},
		{h.unknownOwners(), unknownOwners},
		{holds, oldHolds},
		{freeze, unreadFreeze},
	} {
		if check.problem != nil {
			found = append(found, check.text)
		}
	}
	return found
}
