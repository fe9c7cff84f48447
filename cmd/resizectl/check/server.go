package check

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const (
	// lagAfter is how many pods may be queued before it matters whether they become fewer, and
	// lagOver for how long that is observed.
	lagAfter = 100
	lagOver  = 2 * time.Second
)

// serverGroup checks whether the server answers, and what it says about itself.
func (s *subject) serverGroup(ctx context.Context) []Result {
	const check = "api"
	if s.status == nil {
		// The error says what to do after what is wrong.
		message, remedy, _ := strings.Cut(s.statusErr.Error(), "; ")
		if remedy == "" {
			remedy = "see why it does not answer: kubectl -n " + s.namespace + " get pods"
		}
		return []Result{failure(check, remedy, "the server does not answer: %s", message)}
	}
	found := []Result{ok(check, "replica %s answers, version %s, since %s", s.status.GetReplica(), s.status.GetVersion(), print.Timestamp(s.status.GetStartTime()))}
	for _, problem := range s.otherProblems() {
		found = append(found, failure("problems", "see the alerts in docs/reference/alerts.md, and the log: kubectl -n "+s.namespace+" logs deployment/"+s.service, "%s", problem))
	}
	found = append(found, s.leader(), s.lag(ctx), s.held())
	return append(found, s.usageSources()...)
}

// otherProblems returns the problems that no other check reports.
func (s *subject) otherProblems() []string {
	reported := s.implausible()
	for _, source := range s.table.GetSources() {
		reported = append(reported, source.GetMessage())
	}
	return slices.DeleteFunc(slices.Clone(s.status.GetProblems()), func(problem string) bool {
		return slices.ContainsFunc(reported, func(text string) bool { return text != "" && strings.Contains(problem, text) })
	})
}

func (s *subject) leader() Result {
	const check, runbook = "leader", "docs/reference/alerts.md#workloadresizernoleader"
	l := s.status.GetLeader()
	switch {
	case s.status.GetDryRun():
		return warning(check, "start the server without --dry-run", "the server runs with --dry-run: it plans, but writes nothing")
	case l == nil:
		return failure(check, runbook, "no replica leads, so no pod is resized")
	case l.GetRenewTime() == nil:
		return ok(check, "%s is the only replica", l.GetIdentity())
	}
	// A leader that does not renew the Lease is unknown to the server. The clock of this machine may differ.
	return ok(check, "%s leads, and has renewed the Lease at %s", l.GetIdentity(), print.Timestamp(l.GetRenewTime()))
}

// lag checks whether a long queue becomes shorter.
func (s *subject) lag(ctx context.Context) Result {
	const check = "queue"
	queued, text := s.status.GetQueueLength(), print.Queue(s.status)
	if queued <= lagAfter {
		return ok(check, "%s", text)
	}
	select {
	case <-time.After(s.observe):
	case <-ctx.Done():
	}
	var later *workloadresizerv1.GetStatusResponse
	err := s.server.Call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		later, err = c.Status(ctx)
		return err
	})
	switch {
	case err != nil:
		return unknown(check, "the queue", err)
	case later.GetQueueLength() >= queued:
		return warning(check, "docs/reference/alerts.md#workloadresizerqueueslow", "the queue does not become shorter: %s", print.Queue(later))
	}
	return ok(check, "the queue becomes shorter: %s", print.Queue(later))
}

func (s *subject) held() Result {
	const check = "holds"
	switch {
	case s.status.GetFreeze() != nil:
		return warning(check, aboutReason(contract.Frozen, nil), "%s", print.Freeze(s.status.GetFreeze()))
	case s.status.GetClusterBreaker() != nil:
		return warning(check, aboutReason(contract.Degraded, map[string]string{"SCOPE": "-A"}), "the breaker of the cluster is open: %s", print.OneLine(s.status.GetClusterBreaker().GetReason()))
	case print.NarrowBreakers(s.status) != "":
		return warning(check, aboutReason(contract.Degraded, nil), "%s", print.NarrowBreakers(s.status))
	case s.status.GetHolds() > 0:
		return warning(check, "nothing, if you expect them; \"resizectl holds\" lists them", "pods are not resized because of %s", print.CountOf(s.status.GetHolds(), "hold"))
	}
	return ok(check, "nothing is frozen, paused, restored or degraded")
}

// recent is how long ago a resize may have failed to count: the API server keeps events for an hour by
// default.
const recent = 10 * time.Minute

// failures checks whether resizes fail. The server does not say so, since it retries them; their events
// do.
func (s *subject) failures(ctx context.Context) []Result {
	const check = "failed-resizes"
	found, err := s.kube.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("reason", string(contract.ResizeFailed)).String(),
	})
	if err != nil {
		return []Result{unknown(check, "the events of resizes that failed", err)}
	}
	var pods []string
	var newest *corev1.Event
	for i := range found.Items {
		e := &found.Items[i]
		if s.now.Sub(seen(e)) > recent {
			continue
		}
		pods = append(pods, e.InvolvedObject.Namespace+"/"+e.InvolvedObject.Name)
		if newest == nil || seen(e).After(seen(newest)) {
			newest = e
		}
	}
	if newest == nil {
		return []Result{ok(check, "no resize failed in the last %s", print.CountOf(int64(recent/time.Minute), "minute"))}
	}
	slices.Sort(pods)
	pods = slices.Compact(pods)
	return []Result{warning(check, aboutReason(contract.ResizeFailed, nil)+" (docs/reference/alerts.md#workloadresizerresizesfailing)",
		"resizes of %s failed in the last %s: %s; the newest: %s", count(len(pods), "pod"), print.CountOf(int64(recent/time.Minute), "minute"), some(pods), newest.Message)}
}

// seen returns when an event was last seen, whichever API it was created with.
func seen(e *corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}
	return last
}

// usageSources reports what is wrong with the sources of usage and the storage of history. A server that
// is too old to have them has no such check.
func (s *subject) usageSources() []Result {
	const check = "usage-sources"
	switch {
	case status.Code(s.usageErr) == codes.Unimplemented:
		return nil
	case client.Reason(s.usageErr) == "USAGE_DISABLED":
		return []Result{ok(check, "usage is not collected: the server has no --usage-sources")}
	case s.usageErr != nil:
		return []Result{warning(check, "ask an administrator of the cluster to run this command, or for the right", "the sources of usage: not checked: %s", connect.MessageOf(s.usageErr))}
	}
	var found []Result
	for _, problem := range print.UsageProblems(s.usage) {
		remedy := problem.Remedy
		if remedy == "" {
			remedy = "see its state with \"resizectl usage sources\" (docs/design/usage.md)"
		}
		found = append(found, warning(check, remedy, "%s", problem.Message))
	}
	for _, source := range s.usage.GetSources() {
		switch {
		case source.GetMessage() != "":
		case !s.usage.GetCollecting():
			found = append(found, ok(check, "usage is collected from %s by the leader, which is not the replica that answers", source.GetName()))
		case source.GetReadTime() == nil:
			found = append(found, ok(check, "usage is collected from %s: nothing was read yet", source.GetName()))
		default:
			found = append(found, ok(check, "usage is collected from %s, and was read until %s", source.GetName(), print.Timestamp(source.GetReadTime())))
		}
	}
	return found
}

const (
	// soon is when an expiry needs attention, as for the alert WorkloadResizerCertificateExpiring.
	soon = 7 * 24 * time.Hour
	// renewal is the runbook for certificates.
	renewal = "docs/reference/alerts.md#workloadresizercertificateexpiring"
)

// certificates checks the certificate that the server serves, and the authority that callers trust.
func (s *subject) certificates(ctx context.Context) []Result {
	if s.status != nil && s.status.GetCertificateExpireTime() == nil {
		return []Result{ok("certificate", "the server has no certificate: it serves without TLS")}
	}
	found := s.authority(ctx)
	if s.status == nil {
		return found
	}
	return append(found, s.expiry("certificate", "the certificate of the server", s.status.GetCertificateExpireTime().AsTime()))
}

// authority checks the certificates that callers trust.
func (s *subject) authority(ctx context.Context) []Result {
	const check = "certificate-authority"
	name := s.namespace + "/" + client.AuthorityConfigMap
	cm, err := s.kube.CoreV1().ConfigMaps(s.namespace).Get(ctx, client.AuthorityConfigMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []Result{warning(check, "apply the manifests again, or set --certificate-authority or --plaintext", "there is no ConfigMap %s, so callers do not know which certificate to trust", name)}
	case err != nil:
		return []Result{unknown(check, "the ConfigMap "+name, err)}
	}
	var last time.Time
	for rest := []byte(cm.Data[client.AuthorityKey]); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return []Result{failure(check, renewal, "ConfigMap %s has a certificate that cannot be read: %v", name, err)}
		}
		if certificate.NotAfter.After(last) {
			last = certificate.NotAfter
		}
	}
	if last.IsZero() {
		return []Result{failure(check, "find out why: kubectl -n "+s.namespace+" logs deployment/"+s.service+"; "+renewal, "ConfigMap %s has no certificate yet", name)}
	}
	return []Result{s.expiry(check, "the authority of the certificate", last)}
}

func (s *subject) expiry(check, what string, at time.Time) Result {
	text := at.UTC().Format(time.RFC3339)
	switch left := at.Sub(s.now); {
	case left <= 0:
		return failure(check, renewal, "%s has expired at %s", what, text)
	case left < soon:
		return warning(check, renewal, "%s expires at %s, and is not renewed", what, text)
	}
	return ok(check, "%s is valid until %s", what, text)
}
