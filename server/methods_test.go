package server

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// serverMethods returns all methods of the server, by their full names.
func serverMethods(s *Server) map[string]grpc.MethodInfo {
	all := map[string]grpc.MethodInfo{}
	for service, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			all["/"+service+"/"+m.Name] = m
		}
	}
	return all
}

// everyMethod are those of a server with all that can be switched on.
func everyMethod() map[string]grpc.MethodInfo {
	return serverMethods(New(Config{Ratios: ratios.NewStore(), Reflection: true, Channelz: true, Metrics: prometheus.NewRegistry()}))
}

func TestTablesOfMethodsNameOnlyMethodsThatThereAre(t *testing.T) {
	served := everyMethod()
	for table, names := range map[string][]string{
		"withoutCluster": slices.Collect(maps.Keys(withoutCluster)),
		"watchMethods":   slices.Collect(maps.Keys(watchMethods)),
		"leastRole":      slices.Collect(maps.Keys(leastRole)),
	} {
		for _, name := range names {
			if _, ok := served[name]; !ok {
				t.Errorf("%s names %s, which is no method of the server", table, name)
			}
		}
	}
}

func TestAStreamOfTheServerIsPreviewPlansOrAWatch(t *testing.T) {
	for name, method := range everyMethod() {
		ours := strings.HasPrefix(name, "/workloadresizer.v1.")
		switch {
		case ours && method.IsServerStream && name != workloadresizerv1.PlanService_PreviewPlans_FullMethodName && !watchMethods[name]:
			t.Errorf("%s is in no table, so it goes on as long as it likes", name)
		case watchMethods[name] && !method.IsServerStream:
			t.Errorf("%s is no stream, so it is no watch", name)
		}
	}
}
