package server

import (
	channelz "google.golang.org/grpc/channelz/service"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/benchmarks"
	clusterservice "github.com/workload-resizer/workload-resizer/server/cluster"
	"github.com/workload-resizer/workload-resizer/server/explain"
	"github.com/workload-resizer/workload-resizer/server/holds"
	journalservice "github.com/workload-resizer/workload-resizer/server/journal"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/overrides"
	"github.com/workload-resizer/workload-resizer/server/plans"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/reflection"
	"github.com/workload-resizer/workload-resizer/server/resizes"
	"github.com/workload-resizer/workload-resizer/server/status"
	usageservice "github.com/workload-resizer/workload-resizer/server/usage"
)

// register creates and registers the services.
func (s *Server) register() {
	config, to := &s.config, registrar{s.grpc}
	telling := ratioservice.Config{Store: config.Ratios, Overrides: config.Overrides, Viewer: config.Access, Watches: s.watches}
	if !config.standalone() {
		telling.Impacts = config.Reconciler
	}
	s.ratios = ratioservice.New(telling)
	s.ratios.Register(to)
	plans.New(plans.Config{Ratios: config.Ratios, Production: config.Production, Reconciler: config.Reconciler, Planner: config.planner, WorkloadKinds: config.WorkloadKinds, Viewer: config.Access, Slots: s.previews, Receiving: limits.NewReceiving(plans.MostManifests, plans.MostManifestsPerAccount)}).Register(to)
	if config.standalone() {
		// Registered so that calls are refused with the reason STANDALONE.
		workloadresizerv1.RegisterOverrideServiceServer(to, workloadresizerv1.UnimplementedOverrideServiceServer{})
		workloadresizerv1.RegisterHoldServiceServer(to, workloadresizerv1.UnimplementedHoldServiceServer{})
		workloadresizerv1.RegisterStatusServiceServer(to, workloadresizerv1.UnimplementedStatusServiceServer{})
		workloadresizerv1.RegisterBenchmarkServiceServer(to, workloadresizerv1.UnimplementedBenchmarkServiceServer{})
		workloadresizerv1.RegisterResizeServiceServer(to, workloadresizerv1.UnimplementedResizeServiceServer{})
		workloadresizerv1.RegisterUsageServiceServer(to, workloadresizerv1.UnimplementedUsageServiceServer{})
		workloadresizerv1.RegisterExplainServiceServer(to, workloadresizerv1.UnimplementedExplainServiceServer{})
		workloadresizerv1.RegisterClusterServiceServer(to, workloadresizerv1.UnimplementedClusterServiceServer{})
		workloadresizerv1.RegisterJournalServiceServer(to, workloadresizerv1.UnimplementedJournalServiceServer{})
	} else {
		s.registerOfCluster(to)
	}
	registerGone(to)
	s.health.Register(to)
	if config.Reflection {
		reflection.Register(to, offered{s.grpc})
	}
	if config.Channelz {
		channelz.RegisterChannelzServiceToServer(to)
	}
}

// registerOfCluster creates and registers the services that need a cluster.
func (s *Server) registerOfCluster(to registrar) {
	config := &s.config
	overrides.New(overrides.Config{Store: config.Ratios, Overrides: config.Overrides, Ratios: s.ratios, Slots: limits.NewSlots(config.Limits.Previews)}).Register(to)
	holds.New(holds.Config{Store: config.Holds, Pods: config.Reconciler, Viewer: config.Access, Rights: config.Access, Journal: config.Journal, Slots: limits.NewSlots(config.Limits.Previews)}).Register(to)
	benchmarks.New(benchmarks.Config{
		Benchmarks: config.Benchmarks, Production: config.Production, Ratios: s.ratios, Store: config.Ratios, Reconciler: config.Reconciler, Demands: config.Demands, Viewer: config.Access, Slots: s.previews,
		Receiving: limits.NewReceiving(benchmarks.MostStreams, benchmarks.MostStreamsPerAccount),
	}).Register(to)
	explain.New(explain.Config{Reconciler: config.Reconciler, Ratios: s.ratios, Viewer: config.Access, Rights: config.Access}).Register(to)
	s.resizes = resizes.New(resizes.Config{Reconciler: config.Reconciler, Viewer: config.Access, Watches: s.watches})
	s.resizes.Register(to)
	s.usage = usageservice.New(usageservice.Config{
		Demands: config.Demands, Push: config.Push, Ratios: config.Ratios, DryRun: config.Reconciler.DryRun, Viewer: config.Access,
		Watches: s.watches, Slots: s.previews, Receiving: limits.NewReceiving(usageservice.MostStreams, usageservice.MostStreamsPerAccount),
	})
	s.usage.Register(to)
	s.journal = journalservice.New(journalservice.Config{Journal: config.Journal, Aliases: config.Reconciler.Aliases, Viewer: config.Access, Rights: config.Access, Watches: s.watches})
	s.journal.Register(to)
	clusterservice.New(clusterservice.Config{Reconciler: config.Reconciler, Demands: config.Demands, Ratios: config.Ratios, Viewer: config.Access, Slots: s.previews}).Register(to)
	status.New(status.Config{
		Replica: config.Replica, Version: config.Version, Reconciler: config.Reconciler, Ratios: config.Ratios, Holds: config.Holds, Viewer: config.Access,
		Unstorable: s.health.Unstorable, Certificate: s.health.CertificateProblem, CertificateExpires: s.health.CertificateExpires, Creation: config.Creation, Election: config.Election,
	}).Register(to)
}
