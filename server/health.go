package server

import (
	"context"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// healthPeriod is how old the health status may be.
const healthPeriod = 250 * time.Millisecond

// followHealth keeps the gRPC health status, of the server as a whole and of
// each service, at whether plans can be made.
func (s *Server) followHealth(ctx context.Context) {
	ticker := time.NewTicker(healthPeriod)
	defer ticker.Stop()
	for {
		status := healthv1.HealthCheckResponse_SERVING
		if s.config.ready() != nil {
			status = healthv1.HealthCheckResponse_NOT_SERVING
		}
		s.health.SetServingStatus("", status)
		for service := range s.grpc.GetServiceInfo() {
			s.health.SetServingStatus(service, status)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
