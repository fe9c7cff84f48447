package server

import (
	"time"

	channelz "google.golang.org/grpc/channelz/service"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// register makes the services, each of what it needs, for callers that see what
// the viewer says.
func (s *Server) register(viewer access.Viewer) {
	config := &s.config
	ratios := &ratioService{store: config.Ratios, overrides: config.Overrides, viewer: viewer, log: s.ratioLog, watches: s.watches, slots: limits.NewSlots(config.Limits.Previews)}
	workloadresizerv1.RegisterRatioServiceServer(s.grpc, ratios)
	workloadresizerv1.RegisterPlanServiceServer(s.grpc, &planService{ratios: config.Ratios, reconciler: config.Reconciler, planner: config.planner, viewer: viewer, slots: s.previews, now: time.Now})
	if r := config.Reconciler; r != nil {
		ratios.impacts = r
		held := holds{store: config.Holds, pods: r, viewer: viewer, rights: config.Access}
		workloadresizerv1.RegisterPauseServiceServer(s.grpc, &pauseService{holds: held})
		workloadresizerv1.RegisterBenchmarkServiceServer(s.grpc, &benchmarkService{
			benchmarks: config.Benchmarks, ratios: ratios, reconciler: r, slots: s.previews, now: time.Now,
		})
		workloadresizerv1.RegisterResizeServiceServer(s.grpc, &resizeService{holds: held, reconciler: r, log: followResizes(r), watches: s.watches, replica: newReplica(config)})
	} else {
		// They are there to be refused as what needs a cluster.
		workloadresizerv1.RegisterPauseServiceServer(s.grpc, workloadresizerv1.UnimplementedPauseServiceServer{})
		workloadresizerv1.RegisterBenchmarkServiceServer(s.grpc, workloadresizerv1.UnimplementedBenchmarkServiceServer{})
		workloadresizerv1.RegisterResizeServiceServer(s.grpc, workloadresizerv1.UnimplementedResizeServiceServer{})
	}
	healthv1.RegisterHealthServer(s.grpc, s.health)
	if config.Reflection {
		reflection.Register(s.grpc)
	}
	if config.Channelz {
		channelz.RegisterChannelzServiceToServer(s.grpc)
	}
}
