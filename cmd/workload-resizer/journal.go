package main

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
)

// newRecorder returns what records the journal. overrides is nil if there are none.
func newRecorder(o *options, client kubernetes.Interface, replica string, leads func() bool, holds *hold.Store, overrides *override.Store, onReject func(*corev1.ConfigMap, error)) *recorder.Recorder {
	c := recorder.Config{
		Client: client, Namespace: o.configNamespace, Prefix: o.names().JournalPrefix, ReadOnly: o.dryRun, OnReject: onReject, Replica: replica, Leads: leads,
		Holds: holds.Ready, Clock: decisionClock,
	}
	if overrides != nil {
		c.Overrides = func() []journal.Entry { return changesTo(overrides) }
	}
	return recorder.New(c)
}

// mostChanges is more than the number of changes that are kept.
const mostChanges = 10_000

// changesTo returns the known changes to overrides, the newest first.
func changesTo(overrides *override.Store) (all []journal.Entry) {
	changes, _, err := overrides.Changes(override.Page{Size: mostChanges})
	if err != nil {
		return nil // They are known later.
	}
	for i := range changes {
		c := &changes[i]
		e := journal.Entry{Kind: journal.Override, At: c.Time, Author: c.Author, Reason: c.Reason, Ref: "change " + strconv.FormatInt(c.Number, 10)}
		var from, to []string
		for _, d := range c.Deltas {
			from, to = append(from, d.NodeType+": "+d.From.String()), append(to, d.NodeType+": "+d.To.String())
		}
		e.From, e.To = strings.Join(from, "; "), strings.Join(to, "; ")
		switch {
		case c.RollbackTo != nil:
			e.Message = "rolled back to change " + strconv.FormatInt(*c.RollbackTo, 10)
		case c.Expiry:
			e.Message = "overrides expired"
		}
		all = append(all, e)
	}
	return all
}
