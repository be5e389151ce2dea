! SPDX-License-Identifier: Apache-2.0
!
! Two ranks in Fortran that count the calls of MPI that they make, and print them: a name, its calls
! and the bytes that it hands over. INTERFACE is 1 for mpif.h, 2 for `use mpi`, 3 for `use mpi_f08`.
program fortran_program
#if INTERFACE == 3
  use mpi_f08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define STATUS(name) type(MPI_Status) :: name
#define ERROR
#else
#if INTERFACE == 2
  use mpi
#endif
#define COMM integer
#define REQUEST integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define ERROR , ierr
#endif
  implicit none
#if INTERFACE == 1
  include 'mpif.h'
#endif
  integer, parameter :: rounds = 20
  COMM :: half
  REQUEST :: requests(2)
  STATUS(state)
  double precision :: own(5), more(5)
  integer :: ierr, rank, size, i, tests
  logical :: flag
  ierr = 0
  tests = 0
  own = 1
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank ERROR)
  call MPI_Comm_size(MPI_COMM_WORLD, size ERROR)
  do i = 1, rounds
    call MPI_Barrier(MPI_COMM_WORLD ERROR)
    call MPI_Allreduce(MPI_IN_PLACE, own, 5, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD ERROR)
    call MPI_Bcast(own, 3, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD ERROR)
    call MPI_Irecv(more, 5, MPI_DOUBLE_PRECISION, 1 - rank, 1, MPI_COMM_WORLD, requests(1) ERROR)
    call MPI_Isend(own, 2, MPI_DOUBLE_PRECISION, 1 - rank, 1, MPI_COMM_WORLD, requests(2) ERROR)
#if INTERFACE == 3
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
#else
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
#endif
  end do
  call MPI_Irecv(more, 5, MPI_DOUBLE_PRECISION, 1 - rank, 2, MPI_COMM_WORLD, requests(1) ERROR)
  call MPI_Send(own, 4, MPI_DOUBLE_PRECISION, 1 - rank, 2, MPI_COMM_WORLD ERROR)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, state ERROR)
    tests = tests + 1
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, half ERROR)
  call MPI_Comm_set_name(half, 'pair' ERROR)
  call MPI_Reduce(own, more, 2, MPI_DOUBLE_PRECISION, MPI_MAX, 0, half ERROR)
  call MPI_Comm_free(half ERROR)
  call MPI_Finalize(ierr)
  print '(a, i0)', 'rank ', rank
  print '(a)', 'MPI_Init 1 0', 'MPI_Comm_rank 1 0', 'MPI_Comm_size 1 0', 'MPI_Barrier 20 0', &
    'MPI_Allreduce 20 800', 'MPI_Bcast 20 480', 'MPI_Irecv 21 0', 'MPI_Isend 20 320', &
    'MPI_Waitall 20 0', 'MPI_Send 1 32', 'MPI_Comm_split 1 0', 'MPI_Comm_set_name 1 0', &
    'MPI_Reduce 1 16', 'MPI_Comm_free 1 0', 'MPI_Finalize 1 0'
  print '(a, i0, a)', 'MPI_Test ', tests, ' 0'
end program
