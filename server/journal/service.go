package journal

import (
	"context"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/changelog"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/streams"
)

// Config configures a Service.
type Config struct {
	Journal Journal
	// Aliases returns under which other workloads the journal has what happened to the pods of a workload; nil if that is not known.
	Aliases func(namespace string, of workload.Workload) []workload.Workload
	// Viewer determines what callers can see, and Rights what they may do; an access.Access implements both.
	Viewer  access.Viewer
	Rights  access.Rights
	Watches *streams.Watches
}

// Journal has the entries; a recorder.Recorder implements it.
type Journal interface {
	// Ready returns an error until the journal was read.
	Ready() error
	// Book returns the segments that are stored, and Entries what they contain, the newest first.
	Book() journal.Book
	Entries() []*journal.Entry
	// Watch returns a channel that receives after a change.
	Watch() <-chan struct{}
}

// Service returns what happened.
type Service struct {
	workloadresizerv1.UnimplementedJournalServiceServer
	config  Config
	history *history
}

// New returns a Service. Watches can continue here from when Run has begun.
func New(config Config) *Service {
	return &Service{config: config, history: &history{Log: changelog.New[journal.Entry](changelog.Capacity, changelog.Digests)}}
}

// Register serves the JournalService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterJournalServiceServer(r, s)
}

// Run follows the journal until ctx is done.
func (s *Service) Run(ctx context.Context) {
	changes := s.config.Journal.Watch()
	for {
		if s.config.Journal.Ready() == nil {
			s.history.take(s.config.Journal.Book)
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) ready() error {
	if err := s.config.Journal.Ready(); err != nil {
		return rpcerror.NotReady(rpcerror.CacheNotReady, err)
	}
	return nil
}
