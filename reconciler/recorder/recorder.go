package recorder

import (
	"context"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
)

// Config configures a Recorder. All fields must be set unless their comment names a default.
type Config struct {
	// Client must be allowed to list, watch, get and patch the ConfigMaps of Names, and must not limit the duration of
	// a watch.
	Client    kubernetes.Interface
	Namespace string
	// Prefix is the beginning of the names of the ConfigMaps; a hyphen and a number follow it.
	Prefix string
	// ReadOnly stores nothing; default false.
	ReadOnly bool
	// OnReject receives invalid content and what is wrong with it. It must not block.
	OnReject func(*corev1.ConfigMap, error)
	// Replica is the name of this process among the replicas.
	Replica string
	// Leads reports whether this process leads.
	Leads func() bool
	// Holds returns the holds and the freeze, or why they are not known.
	Holds func() (*hold.Table, error)
	// Overrides returns the entries of the changes to overrides that are known; nil if there are no overrides.
	Overrides func() []journal.Entry
	// Clock provides the time.
	Clock clock.WithTicker
}

const (
	// actsAfter and resizesAfter are how long acts and resizes wait until they are stored. So that is what a crash
	// loses. The mark is written as often as resizes.
	actsAfter    = 15 * time.Second
	resizesAfter = 5 * time.Minute
	// againAfter is how long to wait after nothing could be stored.
	againAfter = 15 * time.Second
	// period is how often to look whether something is due.
	period = time.Second
	// lastWords is how long to store the rest when the process ends.
	lastWords = 5 * time.Second
)

// Names returns the names of the ConfigMaps.
func Names(prefix string) []string {
	all := make([]string, journal.Slots)
	for slot := range all {
		all[slot] = prefix + "-" + strconv.Itoa(slot)
	}
	return all
}

// Recorder records and stores what happens, and has the journal. All methods are safe for concurrent use, but Around must be
// called only once. A nil Recorder records nothing, and is never ready.
type Recorder struct {
	config  Config
	slots   [journal.Slots]*slot
	changes broadcast.Broadcast

	mu sync.Mutex
	// pending is what no batch has yet.
	pending journal.Batch
	// book and mark are what is stored, and sorted its entries, the newest first; nil if they must be sorted again.
	book   journal.Book
	mark   journal.Mark
	sorted []*journal.Entry

	// The rest is only for run.

	// leads reports whether this replica led when run last looked, and has read what earlier leaders stored.
	leads bool
	// holds is the table, and overrides the newest change to overrides, that was compared last.
	holds     *hold.Table
	overrides string
	// writing are the batches that are being stored, by class.
	writing map[journal.Class]*batch
	batches int64
	// markAt is when the mark must be written, and again when to try again after an error.
	markAt, again time.Time
	// problem is what was reported last.
	problem string
}

// batch are entries that are being stored.
type batch struct {
	id      string
	entries []journal.Entry
}

// New returns a recorder that has read nothing.
func New(config Config) *Recorder {
	r := &Recorder{config: config, writing: map[journal.Class]*batch{}}
	for i := range r.slots {
		r.slots[i] = newSlot(r, i)
	}
	return r
}

// Run follows the ConfigMaps until ctx is done. Then it returns nil.
func (r *Recorder) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, s := range r.slots {
		following.Go(func() {
			if err := s.document.Run(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = err
				cancel()
			}
		})
	}
	following.Wait()
	return first
}

// Around returns work during which what happens is recorded. When the work has ended, the rest is stored. The Lease is
// still held then, so that the next leader finds what this one has recorded.
func (r *Recorder) Around(work func(context.Context) error) func(context.Context) error {
	if r == nil || r.config.ReadOnly {
		return work
	}
	return func(ctx context.Context) error {
		recording, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(recording)
		}()
		err := work(ctx)
		stop()
		<-done
		return err
	}
}

// run records until ctx is done, and then stores the rest.
func (r *Recorder) run(ctx context.Context) {
	ticker := r.config.Clock.NewTicker(period)
	defer ticker.Stop()
	for {
		r.step(ctx)
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
			r.end(ctx)
			return
		case <-ticker.C():
		}
	}
}

// step does what is due.
func (r *Recorder) step(ctx context.Context) {
	if r.Ready() != nil {
		return // Nobody knows what was stored before this process began.
	}
	switch leads := r.config.Leads(); {
	case leads && !r.leads && r.config.Clock.Now().Before(r.again):
		return
	case leads && !r.leads:
		if err := r.begin(ctx); err != nil {
			r.report(ctx, err)
			return
		}
	case !leads && r.leads:
		r.end(ctx) // The Lease was lost.
	}
	if r.leads {
		r.look()
	}
	now := r.config.Clock.Now()
	if now.Before(r.again) {
		return
	}
	r.take(now, false)
	r.report(ctx, r.store(ctx, r.leads && !now.Before(r.markAt), false))
}

// begin begins to record as the leader. It reads how far the leader before has recorded, since a replica that has not
// heard of that yet would leave a gap unmarked.
func (r *Recorder) begin(ctx context.Context) error {
	if err := r.slots[0].document.Refresh(ctx); err != nil && r.usable(0) {
		return err
	}
	now := r.config.Clock.Now()
	r.leads, r.holds, r.overrides, r.markAt, r.again = true, nil, "", now, time.Time{}
	r.mu.Lock()
	mark := r.mark
	r.mu.Unlock()
	if gap, ok := mark.Since(now); ok {
		r.Record(gap)
	}
	return nil
}

// end stores everything, and that it has.
func (r *Recorder) end(ctx context.Context) {
	if r.Ready() == nil {
		if r.leads {
			r.look()
		}
		var err error
		for more := true; more && err == nil; {
			r.take(r.config.Clock.Now(), true)
			err = r.store(ctx, false, false)
			_, more = r.waits()
		}
		if err == nil && r.leads {
			err = r.store(ctx, true, true)
		}
		r.report(ctx, err)
	}
	r.leads = false
}

// take makes a batch of what is due for each class, unless an earlier one is not stored yet.
func (r *Recorder) take(now time.Time, all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for class, after := range map[journal.Class]time.Duration{journal.Acts: actsAfter, journal.Resizes: resizesAfter} {
		if r.writing[class] != nil {
			continue
		}
		if since, waits := r.pending.Since(class); waits && (all || now.Sub(since) >= after) {
			r.batches++
			r.writing[class] = &batch{r.batchID(), r.pending.Take(class, now)}
		}
	}
}

// batchID returns the ID of the last batch.
func (r *Recorder) batchID() string { return r.config.Replica + " " + strconv.FormatInt(r.batches, 10) }

// report logs why nothing could be stored, and delays the next attempt.
func (r *Recorder) report(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
		r.again = r.config.Clock.Now().Add(againAfter)
	}
	if text != r.problem && text != "" {
		klog.FromContext(ctx).Error(err, "Journal not stored; retrying soon")
	}
	r.problem = text
}

// Record records an act. It never waits for the API server.
func (r *Recorder) Record(e journal.Entry) { r.add(e, "") }

func (r *Recorder) add(e journal.Entry, uid string) {
	if r == nil || r.config.ReadOnly {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending.Add(e, uid, r.config.Clock.Now())
}
