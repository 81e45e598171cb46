package serve

// Stats are what the server has counted since it began.
type Stats struct {
	Open    int    // connections now
	Running int    // handlers now
	Full    uint64 // connections refused: there was no room
	Crowded uint64 // connections refused: their source had its share
	Slow    uint64 // bodies that came too slowly
	Resets  uint64 // connections closed for giving up too many requests
	Panics  uint64 // of handlers
	LeftOut uint64 // lines of the access log not written and not yet accounted for
}

// Stats may be called at any time.
func (s *Server) Stats() Stats {
	s.access.mu.Lock()
	left := s.access.refused
	s.access.mu.Unlock()
	return Stats{
		Open: s.gate.count(), Running: s.handlers.count(),
		Full: s.gate.full.Load(), Crowded: s.gate.crowded.Load(),
		Slow: s.slow.Load(), Resets: s.resets.Load(), Panics: s.panics.Load(), LeftOut: left,
	}
}
