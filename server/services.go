package server

import (
	channelz "google.golang.org/grpc/channelz/service"
	"google.golang.org/grpc/reflection"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/benchmarks"
	"github.com/workload-resizer/workload-resizer/server/holds"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/plans"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/resizes"
	"github.com/workload-resizer/workload-resizer/server/status"
)

// register creates and registers the services.
func (s *Server) register() {
	config := &s.config
	telling := ratioservice.Config{Store: config.Ratios, Overrides: config.Overrides, Viewer: config.Access, Watches: s.watches, Slots: limits.NewSlots(config.Limits.Previews)}
	if !config.standalone() {
		telling.Impacts = config.Reconciler
	}
	s.ratios = ratioservice.New(telling)
	s.ratios.Register(s.grpc)
	plans.New(plans.Config{Ratios: config.Ratios, Reconciler: config.Reconciler, Planner: config.planner, Viewer: config.Access, Slots: s.previews, Receiving: limits.NewReceiving()}).Register(s.grpc)
	if config.standalone() {
		// Registered so that calls are refused with the reason STANDALONE.
		workloadresizerv1.RegisterPauseServiceServer(s.grpc, workloadresizerv1.UnimplementedPauseServiceServer{})
		workloadresizerv1.RegisterBenchmarkServiceServer(s.grpc, workloadresizerv1.UnimplementedBenchmarkServiceServer{})
		workloadresizerv1.RegisterResizeServiceServer(s.grpc, workloadresizerv1.UnimplementedResizeServiceServer{})
	} else {
		s.registerOfCluster()
	}
	s.health.Register(s.grpc)
	if config.Reflection {
		reflection.Register(s.grpc)
	}
	if config.Channelz {
		channelz.RegisterChannelzServiceToServer(s.grpc)
	}
}

// registerOfCluster creates and registers the services that need a cluster.
func (s *Server) registerOfCluster() {
	config := &s.config
	held := holds.New(holds.Config{Store: config.Holds, Pods: config.Reconciler, Viewer: config.Access, Rights: config.Access})
	held.Register(s.grpc)
	benchmarks.New(benchmarks.Config{
		Benchmarks: config.Benchmarks, Ratios: s.ratios, Store: config.Ratios, Reconciler: config.Reconciler, Slots: s.previews,
	}).Register(s.grpc)
	resizes.New(resizes.Config{
		Reconciler: config.Reconciler, Viewer: config.Access, Watches: s.watches, Restorer: held,
		Replica: status.New(status.Config{
			Replica: config.Replica, Version: config.Version, Reconciler: config.Reconciler, Ratios: config.Ratios, Holds: config.Holds,
			Unstorable: s.health.Unstorable, Certificate: s.health.CertificateProblem, Election: config.Election,
		}),
	}).Register(s.grpc)
}
